import { smsParts } from '../../../../../src/base/content/sms-text.ts'
import { compileTemplate } from '../../../../../src/base/content/text-template.ts'
import { errorCodes } from '../../../../../src/base/error-codes.ts'
import { formatMoney, money } from '../../../../../src/base/money.ts'
import type { DispatchForm, TrialAnswer } from '../../../../../src/http/cabinet/dispatches/new-dispatch.ts'
import type { Wire } from '../../../api.ts'
import { Bits } from './bits.ts'
import { type Candidate, candidatesOf, type Reading } from './candidates.ts'
import { postUntilAnswered } from './post.ts'
import type { BadLine, BadLines, BrandSum, Place, Preview, Report } from './tasks.ts'

export const AT_ONCE = 10_000
const PREVIEWED = 100
const MOST_BAD_LINES = 10_000

type Trial = Wire<TrialAnswer>
type Telling = { onProgress(done: number): void; onWaiting(): void }

/** Reads the whole file and asks the server for the price and the refused recipients. The server stores nothing. */
export async function checkRecipients(
  reading: Reading,
  dispatch: DispatchForm,
  place: Place,
  { onProgress, onWaiting }: Telling,
): Promise<Report> {
  const sums = new Sums(dispatch)
  let batch: Candidate[] = []
  const judge = async () => {
    if (batch.length === 0) return
    const recipients = batch.map(recipientOf)
    const body = { dispatch, recipients }
    sums.take(batch, await postUntilAnswered<Trial>(place, '/new-dispatch/check', body, { onWaiting }))
    batch = []
    onProgress(sums.rows)
  }
  for await (const candidate of candidatesOf(reading, sums)) {
    if (batch.push(candidate) === AT_ONCE) await judge()
  }
  await judge()
  return sums.report()
}

/** The plus tells the server that the number has its country code. */
export const recipientOf = ({ digits, substitutions }: Candidate) => ({ destination: `+${digits}`, substitutions })

class Sums {
  rows = 0
  #duplicates = 0
  #blacklisted = 0
  #candidates = 0
  readonly #badLines: BadLine[] = []
  #laterPrice = 0n
  #trafficType: Trial['trafficType'] = 'PROMO'
  readonly #bad = new Map<string, BadLines>()
  readonly #brands = new Map<BrandSum['brand'], { messages: number; parts: number; price: bigint }>()
  readonly #unregistered = new Map<BrandSum['brand'], number>()
  readonly #leftOut = new Bits()
  readonly #preview: Preview[] = []
  readonly #render: (candidate: Candidate) => string
  readonly #partsOf: (text: string) => number

  constructor(form: DispatchForm) {
    const { text, channelType } = firstOf(form)
    const template = compileTemplate(text)
    this.#render = ({ substitutions }) => template.render(substitutions) ?? ''
    this.#partsOf = channelType === 'SMS' ? smsParts : () => 1
  }

  row = () => void this.rows++

  bad = (fault: BadLines['fault'], { line }: { line: number }, written: string) => {
    const bad = { line, written: written.slice(0, 64), fault }
    const known = this.#bad.get(fault)
    if (known) known.count += 1
    else this.#bad.set(fault, { fault, count: 1, example: bad.written, line })
    if (this.#badLines.length < MOST_BAD_LINES) this.#badLines.push(bad)
  }

  duplicate = () => void this.#duplicates++

  take(batch: Candidate[], trial: Trial) {
    this.#trafficType = trial.trafficType
    this.#laterPrice += money(trial.laterPrice)
    const refused = new Map(trial.refused.map(({ index, errorCode }) => [index, errorCode]))
    for (const [index, candidate] of batch.entries()) {
      const errorCode = refused.get(index)
      if (errorCode !== undefined) this.#refuse(candidate, this.#candidates + index, errorCode)
    }
    for (const { brand, messages, parts, price } of trial.byBrand) {
      const sum = this.#brands.get(brand) ?? { messages: 0, parts: 0, price: 0n }
      this.#brands.set(brand, {
        messages: sum.messages + messages,
        parts: sum.parts + parts,
        price: sum.price + money(price),
      })
    }
    for (const { brand, messages } of trial.unregistered) {
      this.#unregistered.set(brand, (this.#unregistered.get(brand) ?? 0) + messages)
    }
    for (const [i, candidate] of batch.slice(0, PREVIEWED).entries()) {
      if (refused.has(i) || this.#preview.length >= PREVIEWED) continue
      const { digits, substitutions } = candidate
      const text = this.#render(candidate)
      const brand = trial.firstBrands[i] ?? null
      this.#preview.push({ digits, brand, text, parts: this.#partsOf(text), substitutions })
    }
    this.#candidates += batch.length
  }

  #refuse(candidate: Candidate, place: number, errorCode: number) {
    this.#leftOut.set(place)
    if (errorCode === errorCodes.blacklisted) this.#blacklisted += 1
    else this.bad(`${errorCode}`, candidate, candidate.digits)
  }

  report(): Report {
    const order = ['MTS', 'MEGAFON', 'BEELINE', 'TELE2', null]
    const brands = [...this.#brands].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    const total = brands.reduce((sum, [, { price }]) => sum + price, 0n)
    return {
      rows: this.rows,
      willBeSent: brands.reduce((sum, [, { messages }]) => sum + messages, 0),
      parts: brands.reduce((sum, [, { parts }]) => sum + parts, 0),
      duplicates: this.#duplicates,
      blacklisted: this.#blacklisted,
      bad: [...this.#bad.values()].sort((a, b) => b.count - a.count),
      badLines: this.#badLines,
      byBrand: brands.map(([brand, sum]) => ({ brand, ...sum, price: formatMoney(sum.price) })),
      unregistered: [...this.#unregistered].map(([brand, messages]) => ({ brand, messages })),
      price: formatMoney(total),
      laterPrice: formatMoney(this.#laterPrice),
      trafficType: this.#trafficType,
      preview: this.#preview,
      leftOut: this.#leftOut.bytes,
    }
  }
}

/** The text of the message, or of the first step of a cascade. */
function firstOf({ text, channelType, cascade }: DispatchForm) {
  const [first] = cascade ?? []
  if (!first) return { text: text ?? '', channelType }
  const { content } = first
  return { text: typeof content === 'string' ? content : textIn(content), channelType: first.channelType }
}

const textIn = (content: unknown) =>
  typeof content === 'object' && content && 'text' in content ? String(content.text ?? '') : ''
