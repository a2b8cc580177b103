import { errorCodes } from '../../base/error-codes.ts'
import { type Money, money } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { NewMessage } from '../messages/message.ts'
import { type Brand, brandOf } from '../numbering/brand.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { currentTemplates } from '../templates/approved.ts'
import { budgetOf } from '../templates/effort.ts'
import { withNamedTemplates } from './acceptance/named-templates.ts'
import { emptyTally } from './acceptance/tally.ts'
import type { ClientDispatch, Purpose, Recipient } from './dispatch.ts'
import { dryRunMessages } from './dry-run.ts'

/** The sums of a dry run. Prices are exact: storing the same recipients costs the same. */
export type ClientDryRun = {
  /** By the operator of the number. Null stands for all operators that sell no sender names. */
  byBrand: { brand: Brand | null; messages: number; parts: number; price: Money }[]
  /** Recipients whose operator has not approved the sender name. They are also in `refused`. */
  unregistered: { brand: Brand | null; messages: number }[]
  /** Rejected recipients, with their index in the request. */
  refused: { index: number; errorCode: number }[]
  /** The brands of the first recipients. */
  firstBrands: (Brand | null)[]
  trafficType: Purpose['trafficType']
  /** The price of the later steps of a cascade, if every recipient needs all of them. */
  laterPrice: Money
}

type DryRunRequest = { dispatch: ClientDispatch; recipients: Recipient[]; linkBase: string; now: Date }

/** Accepts recipients as if they were added to a dispatch of the messaging API, and stores nothing. */
export async function dryRunClientDispatch(
  pool: Pool,
  numbering: Numbering,
  companyId: number,
  request: DryRunRequest,
): Promise<ClientDryRun> {
  const { recipients, linkBase } = request
  const company = await requireAnyCompany(pool, companyId)
  const { templates } = await currentTemplates(pool, pool, companyId, request.now)
  const budget = budgetOf(pool, companyId)
  const accept = async (wanted: ClientDispatch, recipients: Recipient[]) => {
    const { dispatch, purpose } = await withNamedTemplates(pool, companyId, templates, wanted, budget)
    const accepting = { ...dispatch, ...purpose, senderIds: [] }
    const preparation = { company, dispatch: accepting, recipients, linkBase }
    return { slices: dryRunMessages(pool, numbering, preparation, emptyTally()), trafficType: purpose.trafficType }
  }

  const { slices, trafficType } = await accept(request.dispatch, recipients)
  const sums = new DryRunSums()
  for await (const slice of slices) for (const message of slice) sums.add(message)
  const accepted = sums.acceptedAmong(recipients)
  const laterPrice = await priceOfLaterSteps(request.dispatch, step => accept(step, accepted))
  return { ...sums.result(), trafficType, laterPrice }
}

const FIRST = 100

class DryRunSums {
  readonly #byBrand = new Map<number, { messages: number; parts: number; price: Money }>()
  readonly #unregistered = new Map<number, number>()
  readonly #refused: ClientDryRun['refused'] = []
  readonly #firstBrands: ClientDryRun['firstBrands'] = []
  #count = 0

  add({ errorCode, brandId, parts, price }: NewMessage) {
    const index = this.#count++
    if (index < FIRST) this.#firstBrands.push(brandOf(brandId) ?? null)
    if (errorCode === errorCodes.noSender) this.#unregistered.set(brandId, (this.#unregistered.get(brandId) ?? 0) + 1)
    if (errorCode !== null) {
      this.#refused.push({ index, errorCode })
      return
    }
    const sum = this.#byBrand.get(brandId) ?? { messages: 0, parts: 0, price: 0n }
    sum.messages += 1
    sum.parts += parts
    sum.price += money(price)
    this.#byBrand.set(brandId, sum)
  }

  acceptedAmong(recipients: Recipient[]): Recipient[] {
    const refused = new Set(this.#refused.map(({ index }) => index))
    return recipients.filter((_, index) => !refused.has(index))
  }

  result(): Omit<ClientDryRun, 'trafficType' | 'laterPrice'> {
    const shownBrand = (brandId: number) => brandOf(brandId) ?? null
    return {
      byBrand: [...this.#byBrand].map(([brandId, sum]) => ({ brand: shownBrand(brandId), ...sum })),
      unregistered: [...this.#unregistered].map(([brandId, messages]) => ({ brand: shownBrand(brandId), messages })),
      refused: this.#refused,
      firstBrands: this.#firstBrands,
    }
  }
}

/** Each step is accepted as a dispatch of its own. A recipient that a step rejects costs nothing for this step. */
async function priceOfLaterSteps(
  dispatch: ClientDispatch,
  accept: (step: ClientDispatch) => Promise<{ slices: AsyncIterable<NewMessage[]> }>,
): Promise<Money> {
  let sum = 0n
  for (const step of (dispatch.cascade ?? []).slice(1)) {
    const { channelType, senderName, text } = step
    const { slices } = await accept({ ...dispatch, channelType, senderName, text, cascade: [step] })
    for await (const slice of slices) for (const { price } of slice) sum += money(price)
  }
  return sum
}
