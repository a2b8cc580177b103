import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { errorCodes } from '../../base/error-codes.ts'
import { AppError, invalid } from '../../base/errors.ts'
import { formatMoney } from '../../base/money.ts'
import type { Transaction } from '../../db/sql.ts'
import { recordChange } from '../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../domain/audit-log/entry.ts'
import { blacklistedAmong } from '../../domain/blacklist/blacklist.ts'
import type { Acceptance, NewSingle, Refusal, SingleWish } from '../../domain/messages/single.ts'
import { type Brand, brandOf } from '../../domain/numbering/brand.ts'
import { createIntake } from '../../domain/singles/intake.ts'
import { readCascade, Step } from '../messaging/cascades.ts'
import { Destination, Maybe, readWish, scheduleFields, tellingFields } from '../messaging/wish.ts'
import type { CabinetContext } from './cabinet-context.ts'
import { KeyHeader, onceOf } from './once.ts'
import { companyOf, OfCompany } from './whose.ts'

const MOST_STEPS = 10

/** One step is a message, several are a cascade. */
const Form = Type.Object({
  destination: Destination,
  steps: Type.Array(Step, { minItems: 1, maxItems: MOST_STEPS }),
  shortUrl: Maybe(Type.Boolean()),
  localSendTime: scheduleFields.localSendTime,
  trafficType: tellingFields.trafficType,
})

/** What the page asks and gets; it imports these types. Amounts are decimals with four places. */
export type SendForm = Type.Static<typeof Form>
export type SendAnswer = { messageUuid: string }
export type PricedStep =
  | { operator: Brand | null; parts: number; price: string }
  | { refusal: string; errorCode: number }
export type PriceAnswer = { steps: PricedStep[]; currency: string }

/** One message, or a cascade to one number: what it would cost, and sending it. */
export const sendRoutes =
  ({ sql, clock, numbering, billingZone, publicUrl }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const intake = createIntake({ sql, clock, numbering, billingZone, linkBase: `${publicUrl}/s` })
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
        const wish = wishOf(request.body)
        const note = (tx: Transaction, answers: Acceptance[]) => record(tx, request.actor, companyId, wish, answers)
        const [outcome] = await intake.accept(companyId, [wish], onceOf(request, companyId), note)
        if (outcome!.kind === 'refused') throw errorOf(outcome!)
        return { messageUuid: outcome!.uuid }
      },
    )
  }

const FROM_CABINET = { trafficCenterId: null, method: 'UI' as const }

function wishOf({ steps, ...form }: SendForm): SingleWish {
  const [first, ...others] = steps
  const { condition, ...message } = first!
  const wish =
    others.length === 0
      ? readWish({ ...form, ...message }, FROM_CABINET)
      : readCascade({ ...form, cascade: steps }, FROM_CABINET)
  if (typeof wish === 'string') throw invalid(wish)
  return wish
}

/** Each step as a message of its own, to be priced. */
const stepsOf = ({ steps, ...form }: SendForm): SingleWish[] => steps.map(step => wishOf({ ...form, steps: [step] }))

const numberOf = (draft: NewSingle | Refusal) => ('kind' in draft ? [] : [draft.destination])

function presentStep(draft: NewSingle | Refusal, blacklisted: Set<string>): PricedStep {
  if ('kind' in draft) return { refusal: draft.reason, errorCode: draft.code }
  if (blacklisted.has(draft.destination))
    return { refusal: 'destination: is on the blacklist', errorCode: errorCodes.blacklisted }
  const { brandId, parts, price } = draft
  return { operator: brandOf(brandId) ?? null, parts, price: formatMoney(price) }
}

/** The text may be a secret between two people: the log has the number and the way. */
async function record(tx: Transaction, actor: Actor, companyId: number, wish: SingleWish, [outcome]: Acceptance[]) {
  if (outcome!.kind === 'refused') return
  const { destination, channelType, senderName } = wish
  const subject = { kind: 'message', id: outcome!.uuid }
  await recordChange(tx, actor, {
    what: 'message.sent',
    companyId,
    subject,
    after: { destination, channelType, senderName },
  })
}

const errorOf = (refusal: Refusal) =>
  refusal.why === 'no funds' ? new AppError('insufficient_funds', refusal.reason) : invalid(refusal.reason)
