import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { CabinetContext } from '../cabinet-context.ts'
import { blockRoutes } from './blocks.ts'
import { statisticsRoutes } from './statistics.ts'
import { trialRoutes } from './trial.ts'
import { verifierRoutes } from './verifiers.ts'

/** Verifiers and widgets, statistics of their codes, and blocked numbers. */
export const verificationRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    await api.register(statisticsRoutes(context))
    await api.register(blockRoutes(context))
    await api.register(verifierRoutes(context))
    await api.register(trialRoutes(context))
  }
