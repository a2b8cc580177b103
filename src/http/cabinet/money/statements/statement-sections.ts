import type { Money } from '../../../../base/money.ts'
import type { Company } from '../../../../domain/companies/company.ts'
import { dayOf } from '../../../../domain/ledger/account.ts'
import type { ChannelLine, Statement, TariffLine } from '../../../../domain/ledger/statements.ts'
import type { Brand } from '../../../../domain/numbering/brand.ts'
import type { Language } from '../../../../domain/people/person.ts'
import { type StatementWords, wordsOf } from './statement-words.ts'

/** The content of a statement file. */
export type StatementFile = { company: Company; statement: Statement; language: Language; at: Date; zone: string }

export type StatementRow = { name: string; messages?: number; parts?: number; amount: Money }
export type StatementSection = { title: string; isCounted: boolean; rows: StatementRow[]; total: Money }

/**
 * The sections of a statement, the same in every format. The sections by channel and by tariff add up to the spent
 * amount.
 */
export function sectionsOf({ statement, language }: StatementFile): StatementSection[] {
  const words = wordsOf[language]
  const { topUps, toppedUp, corrections, corrected, spent, fees, channels, tariffs } = statement
  const notedRow = ({ day, note, amount }: Statement['topUps'][number]) => ({
    name: [dateOf(day, language), note].filter(Boolean).join(' · '),
    amount,
  })
  const feeRows = withRest(
    fees.lines.map(({ senderName, brand, amount }) => ({ name: feeName(senderName, brand, words), amount })),
    fees.amount,
    words,
  )
  const all = [
    { title: words.topUps, isCounted: false, rows: withRest(topUps.map(notedRow), toppedUp, words), total: toppedUp },
    {
      title: words.corrections,
      isCounted: false,
      rows: withRest(corrections.map(notedRow), corrected, words),
      total: corrected,
    },
    {
      title: words.channels,
      isCounted: true,
      rows: [...channels.map(line => channelRow(line, words)), ...restOfSpent(statement, words, statement.packages)],
      total: spent,
    },
    {
      title: words.tariffs,
      isCounted: true,
      rows: [...tariffs.flatMap(line => tariffRows(line, words)), ...restOfSpent(statement, words, 0n)],
      total: spent,
    },
    { title: words.fees, isCounted: false, rows: feeRows, total: fees.amount },
  ]
  return all.filter(({ rows }) => rows.length > 0)
}

/** Shortens long lists. One row has the sum of the items that are left out. */
function withRest(rows: StatementRow[], total: Money, words: StatementWords): StatementRow[] {
  const rest = total - rows.reduce((sum, { amount }) => sum + amount, 0n)
  return rest === 0n ? rows : [...rows, { name: words.more, amount: rest }]
}

const channelRow = ({ channelType, operator, messages, parts, amount }: ChannelLine, words: StatementWords) => ({
  name:
    operator === undefined
      ? words.channelNames[channelType]
      : `${words.channelNames[channelType]} · ${operator === null ? words.otherOperators : words.operators[operator]}`,
  messages,
  parts,
  amount,
})

function tariffRows({ tariff, messages, parts, amount, packages }: TariffLine, words: StatementWords): StatementRow[] {
  const name = tariffName(tariff, words)
  return [
    ...(amount > 0n ? [{ name, messages, parts, amount }] : []),
    ...(packages > 0n ? [{ name: `${words.packagesOf} · ${name}`, amount: packages }] : []),
  ]
}

function tariffName(tariff: TariffLine['tariff'], words: StatementWords): string {
  if (!tariff) return words.noTariff
  const { senderType, brand, trafficType, pricingModel } = tariff
  return [
    words.senderTypes[senderType],
    brand === null ? words.allOperators : operatorName(brand, words),
    trafficType === null ? words.allTraffic : words.traffic[trafficType],
    words.models[pricingModel],
  ].join(' · ')
}

const feeName = (senderName: string | null, brand: string | null, words: StatementWords) =>
  [senderName ?? '–', ...(brand === null ? [] : [operatorName(brand, words)])].join(' · ')

export const operatorName = (brand: string, { operators }: StatementWords) => operators[brand as Brand] ?? brand

/** The amounts that the lines above do not contain. */
const restOfSpent = ({ fees, withoutDetails }: Statement, words: StatementWords, packages: Money): StatementRow[] =>
  [
    { name: words.packages, amount: packages },
    { name: words.feesShort, amount: fees.amount },
    { name: words.withoutDetails, amount: withoutDetails },
  ].filter(({ amount }) => amount !== 0n)

const locales: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

export const dateOf = (day: string, language: Language) =>
  new Intl.DateTimeFormat(locales[language], { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' })
    .format(new Date(day))
    .replace(/\sг\.$/, '')

/** The days of a statement. In the current month they end with the day on which the statement was made. */
export function periodOf({ statement: { month }, language, at, zone }: StatementFile): string {
  const last = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)), 0)).toISOString().slice(0, 10)
  const today = dayOf(at, zone)
  const until = last < today ? last : today
  const isOver = month.slice(0, 7) < today.slice(0, 7)
  const days = `${dateOf(month, language)} – ${dateOf(until, language)}`
  return isOver ? days : `${days}, ${wordsOf[language].notOver}`
}

export function monthName(month: string, language: Language): string {
  const format = new Intl.DateTimeFormat(locales[language], { timeZone: 'UTC', month: 'long', year: 'numeric' })
  return format.format(new Date(month)).replace(/\sг\.$/, '')
}

/** Two decimal places, or four if the amount has fractions of a kopeck. */
export function amountsOf(language: Language, currency: string, amounts: Money[]) {
  const places = amounts.every(amount => amount % 100n === 0n) ? 2 : 4
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places }
  const numbers = new Intl.NumberFormat(locales[language], digits)
  const sign = new Intl.NumberFormat(locales[language], {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
  })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')!.value
  const plain = (amount: Money) => numbers.format(decimalOf(amount)).replace('-', '−')
  return { sign, plain, withSign: (amount: Money) => `${plain(amount)}\u00a0${sign}` }
}

/** Intl formats a decimal text of any length exactly. */
const decimalOf = (amount: Money) => `${amount}E-4` as unknown as number

export const countOf = (language: Language, count: number) => new Intl.NumberFormat(locales[language]).format(count)
