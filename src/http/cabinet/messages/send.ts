import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { errorCodes } from '../../../base/error-codes.ts'
import { AppError, invalid } from '../../../base/errors.ts'
import { formatMoney } from '../../../base/money.ts'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import { blacklistedAmong } from '../../../domain/blacklist/blacklist.ts'
import type { Acceptance, MessageRequest, NewSingle, Refusal } from '../../../domain/messages/single.ts'
import { type Brand, brandOf } from '../../../domain/numbering/brand.ts'
import { Intake } from '../../../domain/singles/intake.ts'
import { readCascade, Step } from '../../messaging/messages/cascades.ts'
import {
  Destination,
  Maybe,
  readMessageRequest,
  scheduleFields,
  tellingFields,
} from '../../messaging/messages/message-request.ts'
import { answerOf, refusalText } from '../../messaging/refusals.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { KeyHeader, onceOf } from '../idempotency-key.ts'

const MOST_STEPS = 10

/** One step makes a message, several steps make a cascade. */
const Form = Type.Object({
  destination: Destination,
  steps: Type.Array(Step, { minItems: 1, maxItems: MOST_STEPS }),
  shortUrl: Maybe(Type.Boolean()),
  localSendTime: scheduleFields.localSendTime,
  trafficType: tellingFields.trafficType,
})

/** Types of requests and answers, which the page imports. Amounts are decimals with four places. */
export type SendForm = Type.Static<typeof Form>
export type SendAnswer = { messageUuid: string }
export type PricedStep =
  | { operator: Brand | null; parts: number; price: string }
  | { refusal: string; errorCode: number }
export type PriceAnswer = { steps: PricedStep[]; currency: string }

/** A single message or a cascade to one number: its price, and sending it. */
export const sendRoutes =
  ({ sql, clock, numbering, billingZone, publicUrl, tracer }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const intake = new Intake({ sql, clock, numbering, billingZone, linkBase: `${publicUrl}/s`, tracer })
    const needs = { needs: 'traffic.send' } as const

    api.post(
      '/send/price',
      { config: needs, schema: { querystring: OfCompany, body: Form } },
      async ({ viewer, query, body }): Promise<PriceAnswer> => {
        const { companyId, currency } = await companyOf(sql, viewer, query)
        const drafts = await intake.draft(companyId, stepsOf(body))
        const blacklisted = await blacklistedAmong(sql, companyId, drafts.flatMap(numberOf))
        return { steps: drafts.map(draft => presentStep(draft, blacklisted)), currency }
      },
    )

    api.post(
      '/send',
      { config: needs, schema: { querystring: OfCompany, headers: KeyHeader, body: Form } },
      async (request): Promise<SendAnswer> => {
        const { companyId } = await companyOf(sql, request.viewer, request.query)
        const messageRequest = messageRequestOf(request.body)
        const note = (tx: Transaction, answers: Acceptance[]) =>
          record(tx, request.actor, companyId, messageRequest, answers)
        const [outcome] = await intake.accept(companyId, [messageRequest], onceOf(request, companyId), note)
        if (!outcome) throw new Error('The intake gave no outcome for the message')
        if (outcome.kind === 'refused') throw errorOf(outcome)
        request.span?.began([outcome.uuid])
        return { messageUuid: outcome.uuid }
      },
    )
  }

const FROM_CABINET = { trafficCenterId: null, method: 'UI' as const }

function messageRequestOf({ steps, ...form }: SendForm): MessageRequest {
  const [first, ...others] = steps
  const { condition, ...message } = first!
  const messageRequest =
    others.length === 0
      ? readMessageRequest({ ...form, ...message }, FROM_CABINET)
      : readCascade({ ...form, cascade: steps }, FROM_CABINET)
  if (typeof messageRequest === 'string') throw invalid(messageRequest)
  return messageRequest
}

/** Makes a message of each step, for its price. */
const stepsOf = ({ steps, ...form }: SendForm): MessageRequest[] =>
  steps.map(step => messageRequestOf({ ...form, steps: [step] }))

const numberOf = (draft: NewSingle | Refusal) => ('kind' in draft ? [] : [draft.destination])

function presentStep(draft: NewSingle | Refusal, blacklisted: Set<string>): PricedStep {
  if ('kind' in draft) {
    const { text, code } = answerOf(draft)
    return { refusal: text, errorCode: code }
  }
  if (blacklisted.has(draft.destination))
    return { refusal: 'destination: is on the blacklist', errorCode: errorCodes.blacklisted }
  const { brandId, parts, price } = draft
  return { operator: brandOf(brandId) ?? null, parts, price: formatMoney(price) }
}

/** The audit log has the number and the channels, but not the text, which may be private. */
async function record(
  tx: Transaction,
  actor: Actor,
  companyId: number,
  messageRequest: MessageRequest,
  [outcome]: Acceptance[],
) {
  if (!outcome || outcome.kind === 'refused') return
  const { destination, channelType, senderName } = messageRequest
  const subject = { kind: 'message', id: outcome.uuid }
  await recordChange(tx, actor, {
    what: 'message.sent',
    companyId,
    subject,
    after: { destination, channelType, senderName },
  })
}

const errorOf = (refusal: Refusal) =>
  refusal.why === 'no funds' ? new AppError('insufficient_funds', refusal.reason) : invalid(refusalText(refusal))
