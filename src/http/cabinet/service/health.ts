import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type HealthReport, healthOf } from '../../../domain/health/health.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { SharedAnswer } from './shared-answer.ts'

/** What the page gets; it imports these types. */
export type HealthAnswer = HealthReport & { at: Date }
export type { Check, CheckName } from '../../../domain/health/checks.ts'
export type { ProcessHealth } from '../../../domain/health/processes.ts'

/** However many pages are open, a process asks the database no more often. */
const EVERY_MS = 2000

export const healthRoutes =
  ({ sql, clock, dataFolder }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const health = new SharedAnswer(EVERY_MS, async (): Promise<HealthAnswer> => {
      const now = clock()
      return { at: now, ...(await healthOf({ sql, now, dataFolder })) }
    })
    api.get('/health', { config: { needs: 'health.see' } }, () => health.get())
  }
