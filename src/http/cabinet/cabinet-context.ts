import type { SecondFactors } from '../../domain/people/second-factor.ts'
import type { Context } from '../context.ts'
import type { SessionCookie } from './sign-in/cookie.ts'

/** What every route of the cabinet is given. */
export type CabinetContext = Context & { cookie: SessionCookie; secondFactors: SecondFactors }
