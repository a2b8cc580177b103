import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CabinetContext } from './cabinet-context.ts'
import { blockRoutes } from './verification/blocks.ts'
import { statisticsRoutes } from './verification/statistics.ts'
import { trialRoutes } from './verification/trial.ts'
import { verifierRoutes } from './verification/verifiers.ts'

/** Verifiers and widgets, what became of their codes, and what is blocked. */
export const verificationRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    await api.register(statisticsRoutes(context))
    await api.register(blockRoutes(context))
    await api.register(verifierRoutes(context))
    await api.register(trialRoutes(context))
  }
