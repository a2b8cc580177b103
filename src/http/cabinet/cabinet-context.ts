import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { SecondFactors } from '../../domain/people/second-factor.ts'
import type { Context } from '../context.ts'
import type { SessionCookie } from './sign-in/cookie.ts'

/** The services that every route of the cabinet gets. */
export type CabinetContext = Context & { cookie: SessionCookie; secondFactors: SecondFactors }

/** Registers routes whose handlers get their types from the schemas. */
export type CabinetApi = Parameters<FastifyPluginAsyncTypebox>[0]
