import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { HIDDEN } from '../../../domain/audit-log/entry.ts'
import { withoutPassword } from '../../../domain/callbacks/callback.ts'
import { replayCallback } from '../../../domain/callbacks/callbacks.ts'
import {
  type LogEntry,
  type LogPlace,
  listLog,
  listReceivers,
  logOfMessage,
  MOST_COUNTED,
  newestAddress,
  type OpenedCallback,
  openCallback,
  probeReceiver,
  type ShownReceiver,
} from '../../../domain/callbacks/log.ts'
import { callbackKey, hasCallbackSecret, replaceCallbackSecret } from '../../../domain/callbacks/secrets.ts'
import { askForTest, type TestState, testCall } from '../../../domain/callbacks/test-calls.ts'
import { callbackTimesOf } from '../../../domain/message-life/message-life.ts'
import { DateTime, Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, companySubject, OfCompany } from '../company-scope.ts'

const Query = Type.Object({
  companyId: Type.Optional(Id),
  status: Type.Optional(OneOf(['WAITING', 'DELIVERED', 'EXPIRED'])),
  from: Type.Optional(DateTime),
  /** The period ends before this moment. */
  to: Type.Optional(DateTime),
  message: Type.Optional(Type.String({ format: 'uuid' })),
  /** The `next` of the previous page of the list. */
  before: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,16}$' })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
const ByCallback = Type.Object({ callbackId: Id })
const ByTest = Type.Object({ testId: Id })
const Test = Type.Object({ url: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })) })
const Receiver = Type.Object({ receiver: Type.String({ minLength: 1, maxLength: 2000 }) })

/** Types of requests and answers, which the page imports. */
export type CallbackSettings = {
  hasSecret: boolean
  /** The address of the last callback, without its password. Null before the first callback. */
  address: string | null
  receivers: ShownReceiver[]
  /** Counting of waiting callbacks ends at this number. */
  mostCounted: number
}
/** `isUnsearched`: the search for the callbacks of the message took too long. */
export type CallbackLogAnswer = { entries: LogEntry[]; next: string | null; isUnsearched: boolean }
export type CallbackAnswer = OpenedCallback
/** The cabinet shows it only in this answer. */
export type SecretAnswer = { secret: string }
export type TestAnswer = TestState
export type { LogEntry, ShownReceiver }

const see = { needs: 'developers.see' } as const
const alter = { needs: 'developers.change' } as const

/** The callbacks of one company: contents, receivers and their answers. */
export const callbackLogRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    callbackListRoutes(api, context)
    callbackActionRoutes(api, context)
    callbackTestRoutes(api, context)
  }

/** Lists callbacks, and reads one. */
function callbackListRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.get(
    '/callbacks/settings',
    { config: see, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<CallbackSettings> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const [hasSecret, newest, receivers] = await Promise.all([
        hasCallbackSecret(sql, companyId),
        newestAddress(sql, companyId),
        listReceivers(sql, companyId),
      ])
      return { hasSecret, address: newest ? withoutPassword(newest.url) : null, receivers, mostCounted: MOST_COUNTED }
    },
  )

  api.get(
    '/callbacks',
    { config: see, schema: { querystring: Query } },
    async ({ viewer, query }): Promise<CallbackLogAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      if (query.message !== undefined) {
        const told = await callbackTimesOf(sql, companyId, query.message.toLowerCase())
        const entries = told ? await logOfMessage(sql, told) : []
        return { entries: entries ?? [], next: null, isUnsearched: !entries }
      }
      const { entries, next } = await listLog(sql, companyId, filterIn(query), query.perPage)
      return { entries, next: next ? placeText(next) : null, isUnsearched: false }
    },
  )

  api.get(
    '/callbacks/:callbackId',
    { config: see, schema: { querystring: OfCompany, params: ByCallback } },
    async ({ viewer, query, params }): Promise<CallbackAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      return openCallback(sql, companyId, params.callbackId)
    },
  )
}

/** Sends a callback again, retries a receiver, and changes the secret. */
function callbackActionRoutes(api: CabinetApi, { sql, clock, secret }: CabinetContext) {
  /** Sends the whole batch again. The receiver recognizes callbacks that it has seen by their ids. */
  api.post(
    '/callbacks/:callbackId/replay',
    { config: alter, schema: { querystring: OfCompany, params: ByCallback } },
    async ({ viewer, actor, query, params: { callbackId } }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        await replayCallback(tx, companyId, callbackId, clock())
        const subject = { kind: 'callback', id: callbackId }
        await recordChange(tx, actor, { what: 'callback.replayed', companyId, subject })
      })
      return reply.code(204).send()
    },
  )

  /** Retries a paused receiver now instead of at the end of its pause. */
  api.post(
    '/callbacks/receivers/try',
    { config: alter, schema: { querystring: OfCompany, body: Receiver } },
    async ({ viewer, actor, query, body: { receiver } }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        await probeReceiver(tx, companyId, receiver)
        const subject = { kind: 'receiver', id: receiver }
        await recordChange(tx, actor, { what: 'callback.receiver_tried', companyId, subject })
      })
      return reply.code(204).send()
    },
  )

  api.post(
    '/callbacks/secret',
    { config: alter, schema: { querystring: OfCompany } },
    async ({ viewer, actor, query }): Promise<SecretAnswer> => {
      const company = await companyOf(sql, viewer, query)
      const made = await sql.begin(async tx => {
        const after = { secret: HIDDEN }
        await recordChange(tx, actor, { what: 'callback.secret_replaced', ...companySubject(company), after })
        return replaceCallbackSecret(tx, company.companyId, callbackKey(secret))
      })
      return { secret: made }
    },
  )
}

/** Sends a test callback. */
function callbackTestRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  /** An engine sends the test callback. The page polls for the result. */
  api.post(
    '/callbacks/tests',
    { config: alter, schema: { querystring: OfCompany, body: Test } },
    async ({ viewer, actor, query, body }, reply) => {
      const company = await companyOf(sql, viewer, query)
      const asked = await sql.begin(async tx => {
        const test = await askForTest(tx, company.companyId, body.url, clock())
        const after = { callbackUrl: test.url }
        await recordChange(tx, actor, { what: 'callback.tested', ...companySubject(company), after })
        return test
      })
      reply.code(201)
      return asked
    },
  )

  api.get(
    '/callbacks/tests/:testId',
    { config: see, schema: { querystring: OfCompany, params: ByTest } },
    async ({ viewer, query, params }): Promise<TestAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      return testCall(sql, companyId, params.testId, clock())
    },
  )
}

const filterIn = ({ status, from, to, before }: Type.Static<typeof Query>) => ({
  status,
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
  before: before === undefined ? undefined : placeIn(before),
})

const placeText = ({ happenedAt, callbackId }: LogPlace) => `${happenedAt.getTime()}-${callbackId}`

function placeIn(text: string): LogPlace {
  const [at, callbackId] = text.split('-')
  return { happenedAt: new Date(Number(at)), callbackId: Number(callbackId) }
}
