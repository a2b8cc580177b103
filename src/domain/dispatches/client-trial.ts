import { errorCodes } from '../../base/error-codes.ts'
import { type Money, money } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { type Brand, brandOf } from '../numbering/brand.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { currentTemplates } from '../templates/approved.ts'
import { budgetOf } from '../templates/effort.ts'
import { withNamedTemplates } from './acceptance/named-templates.ts'
import { emptyTally } from './acceptance/tally.ts'
import type { ClientDispatch, Purpose, Recipient } from './dispatch.ts'
import { judgeUnstored } from './dispatches.ts'

/** What recipients would come to in a dispatch. Prices are exact: storing the same recipients costs the same. */
export type ClientTrial = {
  /** By the operator that serves the number; null stands for all others. */
  byBrand: { brand: Brand | null; messages: number; parts: number; price: Money }[]
  /** Recipients whose operator has not approved the name; they are among the refused. */
  unregistered: { brand: Brand | null; messages: number }[]
  /** Recipients that would get no message: their places in the request, and why. */
  refused: { index: number; errorCode: number }[]
  /** Of the first recipients. */
  firstBrands: (Brand | null)[]
  trafficType: Purpose['trafficType']
  /** What the later steps of a cascade add, if every recipient needs all of them. */
  laterPrice: Money
}

const FIRST = 100

/** Judges recipients as if they were added to a dispatch of the messaging API, and stores nothing. */
export async function tryClientDispatch(
  pool: Pool,
  numbering: Numbering,
  companyId: number,
  request: { dispatch: ClientDispatch; recipients: Recipient[]; linkBase: string; now: Date },
): Promise<ClientTrial> {
  const { recipients, linkBase } = request
  const company = await requireAnyCompany(pool, companyId)
  const { templates } = await currentTemplates(pool, pool, companyId, request.now)
  const budget = budgetOf(pool, companyId)
  const judge = async (wanted: ClientDispatch, recipients: Recipient[]) => {
    const { dispatch, purpose } = await withNamedTemplates(pool, companyId, templates, wanted, budget)
    const named = { ...dispatch, ...purpose, senderIds: [] }
    const judged = judgeUnstored(pool, numbering, { company, dispatch: named, recipients, linkBase }, emptyTally())
    return { judged, trafficType: purpose.trafficType }
  }

  const { judged, trafficType } = await judge(request.dispatch, recipients)
  const sums = new Map<number, { messages: number; parts: number; price: Money }>()
  const unregistered = new Map<number, number>()
  const refused: ClientTrial['refused'] = []
  const firstBrands: ClientTrial['firstBrands'] = []
  let index = 0
  for await (const slice of judged) {
    for (const { errorCode, brandId, parts, price } of slice) {
      if (index < FIRST) firstBrands.push(brandOf(brandId) ?? null)
      if (errorCode === errorCodes.noSender) unregistered.set(brandId, (unregistered.get(brandId) ?? 0) + 1)
      if (errorCode !== null) refused.push({ index, errorCode })
      else {
        const sum = sums.get(brandId) ?? { messages: 0, parts: 0, price: 0n }
        sum.messages += 1
        sum.parts += parts
        sum.price += money(price)
        sums.set(brandId, sum)
      }
      index += 1
    }
  }
  const without = new Set(refused.map(({ index }) => index))
  const accepted = recipients.filter((_, index) => !without.has(index))
  const byBrand = [...sums].map(([brandId, sum]) => ({ brand: brandOf(brandId) ?? null, ...sum }))
  return {
    byBrand,
    unregistered: [...unregistered].map(([brandId, messages]) => ({ brand: brandOf(brandId) ?? null, messages })),
    refused,
    firstBrands,
    trafficType,
    laterPrice: await priceOfLaterSteps(request.dispatch, alone => judge(alone, accepted)),
  }
}

/** Each step is judged as if it were a dispatch of its own. A person who cannot get one of them costs nothing for it. */
async function priceOfLaterSteps(
  dispatch: ClientDispatch,
  judge: (alone: ClientDispatch) => Promise<{ judged: ReturnType<typeof judgeUnstored> }>,
): Promise<Money> {
  let sum = 0n
  for (const step of (dispatch.cascade ?? []).slice(1)) {
    const { channelType, senderName, text } = step
    const { judged } = await judge({ ...dispatch, channelType, senderName, text, cascade: [step] })
    for await (const slice of judged) for (const { price } of slice) sum += money(price)
  }
  return sum
}
