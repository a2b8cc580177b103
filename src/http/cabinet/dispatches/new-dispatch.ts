import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import { formatMoney, money } from '../../../base/money.ts'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { addRecipients, createClientDispatch, requireDispatchOf } from '../../../domain/dispatches/client-dispatches.ts'
import { type ClientDryRun, dryRunClientDispatch } from '../../../domain/dispatches/client-dry-run.ts'
import type { ClientDispatch, DispatchKey, DispatchStatus, Recipient } from '../../../domain/dispatches/dispatch.ts'
import { priceToStart, startCreatedDispatch } from '../../../domain/dispatches/lifecycle.ts'
import { monthOf } from '../../../domain/ledger/account.ts'
import { accountOf } from '../../../domain/ledger/ledger.ts'
import type { Brand } from '../../../domain/numbering/brand.ts'
import { may } from '../../../domain/people/rights.ts'
import { bodyLimits } from '../../bodies/body.ts'
import { createIngestQueue, type InTurn } from '../../ingest-queue.ts'
import { dispatchOf, NewDispatchBody } from '../../messaging/messages/dispatches.ts'
import { Id } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { KeyHeader, onceOf } from '../idempotency-key.ts'
import { type OfferAnswer, offerFor, presentBudget } from './dispatch-choices.ts'

/** The number of recipients of one request. */
const MOST_AT_ONCE = 10_000
const MOST_SUBSTITUTIONS = 100

const ByDispatch = Type.Object({ dispatchId: Id })
const Recipients = Type.Unsafe<Recipient[]>(
  Type.Array(
    Type.Object({
      destination: Type.String({ maxLength: 64 }),
      substitutions: Type.Optional(
        Type.Unsafe({
          type: 'object',
          maxProperties: MOST_SUBSTITUTIONS,
          additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
        }),
      ),
    }),
    { minItems: 1, maxItems: MOST_AT_ONCE },
  ),
)
const Trial = Type.Object({ dispatch: NewDispatchBody, recipients: Recipients })
/**
 * `total` is the number of recipients of the whole upload. The audit log has one entry for the upload, written with the
 * first request.
 */
const Addition = Type.Object({
  from: Type.Integer({ minimum: 0 }),
  total: Type.Integer({ minimum: 1 }),
  recipients: Recipients,
})
const Start = Type.Object({ price: Type.String({ pattern: '^\\d{1,14}\\.\\d{4}$' }) })

/** Types of requests and answers, which the page imports. Amounts are decimals with four places. */
export type DispatchForm = Type.Static<typeof NewDispatchBody>
export type TrialAnswer = Omit<ClientDryRun, 'byBrand' | 'laterPrice'> & {
  laterPrice: string
  byBrand: { brand: Brand | null; messages: number; parts: number; price: string }[]
}
export type DraftAnswer = {
  dispatchId: number
  status: DispatchStatus
  recipients: number
  price: string
  currency: string
}

/**
 * A new dispatch, step by step. The page asks for the choices and for the price of the recipients. Then it creates the
 * dispatch, adds recipients in requests of 10,000, and starts it.
 */
export const newDispatchRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const inTurn = createIngestQueue(context.sql.options.max)
    choiceRoutes(api, context, inTurn)
    draftRoutes(api, context)
    recipientRoutes(api, context, inTurn)
  }

const config = { needs: 'traffic.send' } as const

/** The choices, and the price of recipients that are not stored yet. */
function choiceRoutes(
  api: CabinetApi,
  { sql, clock, numbering, billingZone, publicUrl }: CabinetContext,
  inTurn: InTurn,
) {
  api.get(
    '/new-dispatch',
    { config, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<OfferAnswer> => {
      const company = await companyOf(sql, viewer, query)
      const month = monthOf(clock(), billingZone)
      const account = may(viewer, 'money.see') ? await accountOf(sql, company.companyId, month) : undefined
      return { ...(await offerFor(sql, company)), budget: account ? presentBudget(account, month) : null }
    },
  )

  api.post(
    '/new-dispatch/check',
    { config, schema: { querystring: OfCompany, body: Trial }, bodyLimit: bodyLimits.recipients },
    async ({ viewer, query, body }, reply): Promise<TrialAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const dispatch = dispatchOf(body.dispatch, { trafficCenterId: null })
      const request = { dispatch, recipients: body.recipients, linkBase: linkBaseOf(publicUrl), now: clock() }
      return presentTrial(await inTurn(reply, () => dryRunClientDispatch(sql, numbering(), companyId, request)))
    },
  )
}

/** Creates, reads and starts a dispatch. */
function draftRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, clock } = context

  api.post(
    '/new-dispatch',
    { config, schema: { querystring: OfCompany, headers: KeyHeader, body: NewDispatchBody } },
    async (request): Promise<DraftAnswer> => {
      const { companyId } = await companyOf(sql, request.viewer, request.query)
      const dispatch = dispatchOf(request.body, { trafficCenterId: null })
      const { dispatchId } = await createClientDispatch(sql, companyId, {
        dispatch,
        once: onceOf(request, companyId),
        now: clock(),
        alongside: (tx, id) => recordCreated(tx, request.actor, { companyId, dispatchId: id }, dispatch),
      })
      return draftOf(context, { companyId, dispatchId })
    },
  )

  api.get(
    '/new-dispatch/:dispatchId',
    { config, schema: { querystring: OfCompany, params: ByDispatch } },
    async ({ viewer, query, params: { dispatchId } }): Promise<DraftAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      return draftOf(context, { companyId, dispatchId })
    },
  )

  api.post(
    '/new-dispatch/:dispatchId/start',
    { config, schema: { querystring: OfCompany, params: ByDispatch, body: Start } },
    async ({ viewer, actor, query, params: { dispatchId }, body }): Promise<{ dispatchId: number }> => {
      const { companyId } = await companyOf(sql, viewer, query)
      await startDraft(context, actor, { companyId, dispatchId }, body.price)
      return { dispatchId }
    },
  )
}

function recordCreated(
  tx: Transaction,
  actor: Actor,
  { companyId, dispatchId: id }: DispatchKey,
  dispatch: ClientDispatch,
) {
  const { name, channelType, senderName, text, cascade } = dispatch
  const channels = cascade ? { cascade: cascade.map(step => step.channelType).join(', ') } : {}
  const after = { channelType, senderName, text, ...channels }
  return recordChange(tx, actor, {
    what: 'dispatch.created',
    companyId,
    subject: { kind: 'dispatch', id, name },
    after,
  })
}

async function draftOf(context: CabinetContext, { companyId, dispatchId }: DispatchKey): Promise<DraftAnswer> {
  const dispatch = await requireDispatchOf(context.sql, companyId, dispatchId)
  const { status, messageCount, currency, priceEstimate } = dispatch
  const price = status === 'CREATED' ? await priceToStart(context.sql, dispatch, billingOf(context)) : priceEstimate
  return { dispatchId, status, recipients: messageCount, price: formatMoney(price), currency }
}

/** Holds exactly the price that the person saw, or does not start. A repeated request finds the dispatch started. */
async function startDraft(
  context: CabinetContext,
  actor: Actor,
  { companyId, dispatchId }: DispatchKey,
  price: string,
) {
  const { status, name, messageCount } = await requireDispatchOf(context.sql, companyId, dispatchId)
  if (status !== 'CREATED') return
  const subject = { kind: 'dispatch', id: dispatchId, name }
  const after = { recipients: messageCount, price }
  await startCreatedDispatch(context.sql, { companyId, dispatchId }, billingOf(context), {
    price: money(price),
    alongside: tx => recordChange(tx, actor, { what: 'dispatch.started', companyId, subject, after }),
  })
}

const billingOf = ({ billingZone, clock }: CabinetContext) => ({ billingZone, now: clock() })

/** Adds recipients to a dispatch. */
function recipientRoutes(api: CabinetApi, { sql, numbering, publicUrl }: CabinetContext, inTurn: InTurn) {
  api.post(
    '/new-dispatch/:dispatchId/recipients',
    {
      config,
      schema: { querystring: OfCompany, params: ByDispatch, headers: KeyHeader, body: Addition },
      bodyLimit: bodyLimits.recipients,
    },
    async (request, reply): Promise<{ recipients: number }> => {
      const { companyId } = await companyOf(sql, request.viewer, request.query)
      const { dispatchId, name } = await requireDispatchOf(sql, companyId, request.params.dispatchId)
      const { from, total, recipients } = request.body
      if (from + recipients.length > total) throw invalid('total: is less than the recipients')
      const recordOnce = async (tx: Transaction) => {
        if (from > 0) return
        await recordChange(tx, request.actor, {
          what: 'dispatch.changed',
          companyId,
          subject: { kind: 'dispatch', id: dispatchId, name },
          before: { recipients: 0 },
          after: { recipients: total },
        })
      }
      const linkBase = linkBaseOf(publicUrl)
      const wanted = { from, recipients, linkBase, once: onceOf(request, companyId), alongside: recordOnce }
      await inTurn(reply, () => addRecipients(sql, numbering(), { companyId, dispatchId }, wanted))
      return { recipients: from + recipients.length }
    },
  )
}

const linkBaseOf = (publicUrl: string) => `${publicUrl}/s`

const presentTrial = ({ byBrand, laterPrice, ...trial }: ClientDryRun): TrialAnswer => ({
  ...trial,
  laterPrice: formatMoney(laterPrice),
  byBrand: byBrand.map(({ price, ...sums }) => ({ ...sums, price: formatMoney(price) })),
})
