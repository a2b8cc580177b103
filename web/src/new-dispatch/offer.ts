import type { ClientChannel } from '../../../src/base/channel-types.ts'
import { compileTemplate } from '../../../src/base/content/text-template.ts'
import { money, moneyToNumber } from '../../../src/base/money.ts'
import type { Brand } from '../../../src/domain/numbering/brand.ts'
import type { OfferAnswer, OfferedName, Registration } from '../../../src/http/cabinet/dispatches/dispatch-choices.ts'
import type { DispatchForm } from '../../../src/http/cabinet/dispatches/new-dispatch.ts'
import type { SendForm } from '../../../src/http/cabinet/messages/send.ts'
import type { Wire } from '../api.ts'
import { emptyStep, faultInSteps, type StepDraft, stepsOf } from '../send/send.ts'
import type { Words } from '../words/words.ts'
import { type Draft, sourceOf, type When } from './draft.ts'
import type { Reading } from './recipients/reading/candidates.ts'
import type { Preview, Report } from './recipients/reading/tasks.ts'
import { mostIn, partsIn, placeholdersIn } from './text/message-text.ts'

export type Offer = Wire<OfferAnswer>
export type BrandOrOther = Brand | null

export const brandsShown: BrandOrOther[] = ['MTS', 'MEGAFON', 'BEELINE', 'TELE2', null]

/** Channels in which operators approve the sender names. In the other channels a person may type any name. */
const registered: ClientChannel[] = ['SMS', 'VIBER', 'WHATSAPP']
export const needsApproval = (channelType: ClientChannel) => registered.includes(channelType)

export const namesIn = (offer: Offer, channelType: ClientChannel): OfferedName[] =>
  offer.names.filter(name => name.channelType === channelType)

export type NameState = { brand: BrandOrOther; registration: Registration | undefined; partPrice: string | null }

/** The registration of the chosen name at each operator. The shared name needs no approval and is valid for all. */
export function statesOf(offer: Offer, channelType: ClientChannel, senderName: string): NameState[] {
  if (channelType !== 'SMS') return []
  if (senderName === offer.shared.senderName) {
    const priceOf = new Map(offer.shared.prices.map(({ brand, partPrice }) => [brand, partPrice]))
    return brandsShown.map(brand => ({ brand, registration: undefined, partPrice: priceOf.get(brand) ?? null }))
  }
  const name = namesIn(offer, channelType).find(offered => offered.senderName === senderName)
  return brandsShown.map(brand => {
    const ofBrand = name?.registrations.filter(one => one.brand === brand && !one.isInternational) ?? []
    const registration = ofBrand.find(({ isUsable }) => isUsable) ?? ofBrand[0]
    return { brand, registration, partPrice: registration?.isUsable ? registration.partPrice : null }
  })
}

export const numberOf = (amount: string) => moneyToNumber(money(amount))

/** The first mistake of step 1. */
export function faultOfText(draft: Draft) {
  if (draft.name.trim() === '') return 'new.name.empty'
  if (draft.cascade) return faultOfSteps(draft.cascade)
  if (draft.senderName.trim() === '') return 'new.sender.empty'
  if (draft.text.trim() === '') return 'new.text.empty'
  if (partsIn(draft.channelType, draft.text) > 10 || draft.text.length > mostIn(draft.channelType)) {
    return 'new.text.tooLong'
  }
}

function faultOfSteps(steps: StepDraft[]) {
  const isTooLong = ({ channelType, text }: StepDraft) =>
    partsIn(channelType, text) > 10 || text.length > mostIn(channelType)
  return faultInSteps(steps) ?? (steps.some(isTooLong) ? ('new.text.tooLong' as const) : undefined)
}

/** The placeholders of all steps. */
export const placeholdersOf = ({ text, cascade }: Draft) =>
  placeholdersIn(
    cascade ? cascade.map(step => [step.text, step.image, step.buttonText, step.buttonUrl]).join('\n') : text,
  )

/** Sender names belong to a company, so a change of the company removes them. */
export const withoutNames = ({ cascade }: Draft): Partial<Draft> => ({
  senderName: '',
  cascade: cascade?.map(step => ({ ...step, senderName: '' })),
  checked: undefined,
})

/** The channels, `Viber → SMS`, and the sender names. */
export const channelsOf = ({ cascade, channelType, senderName }: Draft, { say }: Words) => {
  const steps = cascade ?? [{ channelType, senderName }]
  const names = new Set(steps.map(step => step.senderName).filter(name => name !== ''))
  return { channel: steps.map(step => say(`channel.${step.channelType}`)).join(' → '), name: [...names].join(', ') }
}

/** The highest price: every message may need all steps of a cascade. */
export const mostOf = ({ price, laterPrice }: Report) => numberOf(price) + numberOf(laterPrice)

/** The choices that determine the result of the check. The check is valid until one of them changes. */
export const checkedBy = (draft: Draft) =>
  JSON.stringify([
    draft.companyId,
    draft.channelType,
    draft.senderName,
    draft.text,
    draft.cascade,
    draft.shortUrl,
    draft.columns,
    draft.repeats,
    draft.source,
  ])

export const reportOf = (draft: Draft) =>
  draft.checked && draft.checked.of === checkedBy(draft) ? draft.checked.report : undefined

/** The report of a draft whose recipients are checked: step 4 and the price need it. */
export function checkedReport(draft: Draft): Report {
  const report = reportOf(draft)
  if (!report) throw new Error('The recipients of the draft are not checked')
  return report
}

/** The choices that determine the numbers of the list, independent of the text. */
export const readBy = (draft: Draft) =>
  JSON.stringify([draft.companyId, draft.source, draft.columns?.number, draft.repeats])

/** The count of numbers by operator. Undefined before the list is checked. */
export function numbersByBrand(draft: Draft): Map<BrandOrOther, number> | undefined {
  if (!draft.checked || draft.checked.readBy !== readBy(draft)) return undefined
  const counts = new Map<BrandOrOther, number>()
  const { byBrand, unregistered } = draft.checked.report
  for (const { brand, messages } of [...byBrand, ...unregistered]) {
    counts.set(brand, (counts.get(brand) ?? 0) + messages)
  }
  return counts
}

/** Columns for exactly the placeholders of the text. */
export const columnsFor = (draft: Draft) => {
  const { number = -1, placeholders = {} } = draft.columns ?? {}
  const names = placeholdersOf(draft)
  return { number, placeholders: Object.fromEntries(names.map(name => [name, placeholders[name] ?? -1])) }
}

/** How the file of the draft is read. */
export const readingOf = (draft: Draft, file: Blob): Reading => ({
  file,
  form: sourceOf(draft).look.form,
  columns: columnsFor(draft),
  repeats: draft.repeats,
})

/** The dispatch as the server creates or checks it. */
export function formOf(draft: Draft): DispatchForm {
  const { channelType, senderName, text, cascade, shortUrl } = draft
  const what = cascade ? { cascade: stepsOf(cascade) } : { channelType, senderName: senderName.trim(), text }
  return { name: draft.name.trim(), ...what, shortUrl, ...timesOf(draft.when) }
}

/** The message or cascade of one recipient, for a test message. */
export function stepsFor(draft: Draft, { substitutions }: Preview): SendForm['steps'] {
  const { cascade, channelType, senderName, text } = draft
  const filled = (_: string, value: unknown) =>
    typeof value === 'string' ? (compileTemplate(value).render(substitutions) ?? value) : value
  return stepsOf(cascade ?? [{ ...emptyStep(channelType), senderName, text }]).map(step => ({
    ...step,
    content: JSON.parse(JSON.stringify(step.content), filled),
  }))
}

/** The choices from which a dispatch is created. An attempt with the same choices uploads nothing twice. */
export const madeBy = (draft: Draft) =>
  JSON.stringify([checkedBy(draft), formOf(draft), reportOf(draft)?.willBeSent, reportOf(draft)?.price])

/** Begins to send. It continues the dispatch of an earlier attempt if no choice has changed since. */
export function beginSending(draft: Draft): Partial<Draft> {
  const { price } = checkedReport(draft)
  if (draft.made?.of === madeBy(draft)) return { sending: { price, dispatchId: draft.made.dispatchId } }
  return { sending: { price, dispatchId: undefined }, made: undefined, id: crypto.randomUUID() }
}

function timesOf({ startAt, endAt, hours, days, useLocalTime, rate, rateTerm }: When) {
  return {
    useLocalTime,
    ...(startAt ? { localSendTime: inWords(startAt) } : {}),
    ...(endAt ? { localCompletionTime: inWords(endAt) } : {}),
    ...(hours.length < 24 ? { hours: [...hours] } : {}),
    ...(days.length < 7 ? { days: [...days] } : {}),
    ...(rate === null ? {} : { rate, rateTerm }),
  }
}

/** `2026-11-25T13:00` as the API writes it. */
const inWords = (local: string) => `${local.replace('T', ' ')}:00`

/** Sample values for placeholders before there are recipients. */
export const samplesOf = (draft: Draft): Record<string, string> => {
  const samples: Record<string, string> = { name: 'Anna', code: 'BF-7Q2M', city: 'Moscow', имя: 'Анна', код: 'BF-7Q2M' }
  for (const [name, column] of Object.entries(draft.columns?.placeholders ?? {})) {
    const [first] = draft.source?.look.columns[column]?.samples ?? []
    if (first) samples[name] = first
  }
  return samples
}
