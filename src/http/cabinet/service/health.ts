import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type HealthReport, healthOf } from '../../../domain/health/health.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { SharedAnswer } from './shared-answer.ts'

/** Types of answers, which the page imports. */
export type HealthAnswer = HealthReport & { at: Date }
export type { Check, CheckName } from '../../../domain/health/checks.ts'
export type { ProcessHealth } from '../../../domain/health/processes.ts'

/** A process queries the database at most once in this time, for any number of pages. */
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
