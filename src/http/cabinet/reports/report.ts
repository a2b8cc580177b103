import { moneyToNumber } from '../../../base/money.ts'
import { timeOfUuid7 } from '../../../base/uuid7.ts'
import type { Sql } from '../../../db/sql.ts'
import type { Dispatch } from '../../../domain/dispatches/dispatch.ts'
import type { Message } from '../../../domain/messages/message.ts'
import { everyMessage } from '../../../domain/messages/messages.ts'
import type { Language } from '../../../domain/people/person.ts'
import { sendersByIds } from '../../../domain/senders/senders.ts'
import { type Cell, csvOf, csvStyles } from './csv.ts'
import { type ReportWords, reportWordsOf } from './report-words.ts'
import { xlsxOf } from './xlsx.ts'

export const reportFormats = ['csv', 'xlsx'] as const
export type ReportFormat = (typeof reportFormats)[number]

export const reportTypes: Record<ReportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

type Options = { zone: string; language: Language; hasPrices: boolean }

/** Every message of a dispatch, in pages. The next page is read after the reader has taken the previous page. */
export async function* reportOf(
  sql: Sql,
  dispatch: Dispatch,
  format: ReportFormat,
  options: Options,
): AsyncGenerator<string | Buffer> {
  const words = reportWordsOf(options.language)
  const columns = columnsOf(options, words, await senderNames(sql, dispatch))
  const head = columns.map(({ name }) => name)
  const pages = rowsOf(sql, dispatch, columns)
  if (format === 'xlsx') yield* xlsxOf(head, pages, dispatch.messageCount, { sheetName: words.sheet })
  else yield* csvOf(head, pages, csvStyles[options.language])
}

async function* rowsOf(sql: Sql, dispatch: Dispatch, columns: Column[]): AsyncGenerator<Cell[][]> {
  for await (const page of everyMessage(sql, dispatch)) {
    yield page.map(message => columns.map(({ of }) => of(message)))
  }
}

type Column = { name: string; of(message: Message): Cell }

function columnsOf(
  { zone, hasPrices }: Options,
  words: ReportWords,
  nameOf: (senderId: number | null) => string,
): Column[] {
  const at = clockIn(zone)
  return [
    { name: words.number, of: ({ destination }) => destination },
    { name: words.operator, of: ({ brandId }) => words.operatorOf(brandId) },
    { name: words.status, of: ({ status, sentAt }) => words.statusOf(status, sentAt !== null) },
    { name: words.reason, of: ({ errorCode }) => (errorCode === null ? null : words.reasonOf(errorCode)) },
    { name: words.errorCode, of: ({ errorCode }) => errorCode },
    { name: words.parts, of: ({ parts }) => parts },
    ...(hasPrices ? [{ name: words.price, of: priceOf }] : []),
    { name: words.senderName, of: ({ senderId }) => nameOf(senderId) },
    { name: `${words.accepted} (${zone})`, of: ({ uuid }) => at(timeOfUuid7(uuid)) },
    { name: `${words.sent} (${zone})`, of: ({ sentAt }) => at(sentAt) },
    { name: `${words.finished} (${zone})`, of: ({ finalAt }) => at(finalAt) },
    { name: words.text, of: ({ text }) => text },
    { name: words.messageId, of: ({ uuid }) => uuid },
  ]
}

export type Clock = (moment: Date | null) => string | null

/** A format of moments that spreadsheets of every language read. */
export function clockIn(timeZone: string): Clock {
  const time = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return moment => (moment ? time.format(moment) : null)
}

/** The charge of the message. While the message is not final, the amount held for it. */
const priceOf = ({ finalPrice, price }: Message) => moneyToNumber(finalPrice ?? price)

async function senderNames(sql: Sql, { companyId, senderIds, senderName }: Dispatch) {
  const senders = await sendersByIds(sql, companyId, senderIds)
  const names = new Map(senders.map(sender => [sender.senderId, sender.senderName]))
  return (senderId: number | null) => (senderId === null ? undefined : names.get(senderId)) ?? senderName ?? ''
}
