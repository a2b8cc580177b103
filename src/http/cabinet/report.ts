import { errorDescriptions } from '../../base/error-codes.ts'
import { moneyToNumber } from '../../base/money.ts'
import { timeOfUuid7 } from '../../base/uuid7.ts'
import type { Sql } from '../../db/sql.ts'
import type { Dispatch } from '../../domain/dispatches/dispatch.ts'
import type { Message } from '../../domain/messages/message.ts'
import { everyMessage } from '../../domain/messages/messages.ts'
import { brandOf } from '../../domain/numbering/brand.ts'
import { sendersByIds } from '../../domain/senders/senders.ts'
import { type Cell, opensFormula, xlsxOf } from './xlsx.ts'

export const reportFormats = ['csv', 'xlsx'] as const
export type ReportFormat = (typeof reportFormats)[number]

export const reportTypes: Record<ReportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

type Options = { zone: string; hasPrices: boolean }

/** Every message of a dispatch, a page at a time: the next is read when the reader has taken the last. */
export async function* reportOf(
  sql: Sql,
  dispatch: Dispatch,
  format: ReportFormat,
  options: Options,
): AsyncGenerator<string | Buffer> {
  const columns = columnsOf(options, await senderNames(sql, dispatch))
  const head = columns.map(({ name }) => name)
  const pages = rowsOf(sql, dispatch, columns)
  if (format === 'xlsx') yield* xlsxOf(head, pages, dispatch.messageCount)
  else yield* csvOf(head, pages)
}

async function* rowsOf(sql: Sql, dispatch: Dispatch, columns: Column[]): AsyncGenerator<Cell[][]> {
  for await (const page of everyMessage(sql, dispatch)) {
    yield page.map(message => columns.map(({ of }) => of(message)))
  }
}

type Column = { name: string; of(message: Message): Cell }

function columnsOf({ zone, hasPrices }: Options, nameOf: (senderId: number | null) => string): Column[] {
  const time = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const at = (moment: Date | null) => (moment ? time.format(moment) : null)
  return [
    { name: 'Number', of: ({ destination }) => destination },
    { name: 'Operator', of: ({ brandId }) => brandOf(brandId) ?? 'Other' },
    { name: 'Status', of: ({ status }) => status },
    { name: 'Reason', of: ({ errorCode }) => (errorCode === null ? null : (errorDescriptions[errorCode] ?? null)) },
    { name: 'Error code', of: ({ errorCode }) => errorCode },
    { name: 'Parts', of: ({ parts }) => parts },
    ...(hasPrices ? [{ name: 'Price', of: priceOf }] : []),
    { name: 'Sender name', of: ({ senderId }) => nameOf(senderId) },
    { name: `Accepted (${zone})`, of: ({ uuid }) => at(timeOfUuid7(uuid)) },
    { name: 'Sent', of: ({ sentAt }) => at(sentAt) },
    { name: 'Finished', of: ({ finalAt }) => at(finalAt) },
    { name: 'Text', of: ({ text }) => text },
    { name: 'Message id', of: ({ uuid }) => uuid },
  ]
}

/** What was charged; of one that is not final yet, what is held for it. */
const priceOf = ({ finalPrice, price }: Message) => moneyToNumber(finalPrice ?? price)

async function senderNames(sql: Sql, { companyId, senderIds, senderName }: Dispatch) {
  const senders = await sendersByIds(sql, companyId, senderIds)
  const names = new Map(senders.map(sender => [sender.senderId, sender.senderName]))
  return (senderId: number | null) => (senderId === null ? undefined : names.get(senderId)) ?? senderName ?? ''
}

/** With a mark of UTF-8 in front: Excel takes it for an old encoding otherwise. */
export async function* csvOf(head: string[], pages: AsyncIterable<Cell[][]>): AsyncGenerator<string> {
  yield `\ufeff${lineOf(head)}`
  for await (const page of pages) yield page.map(lineOf).join('')
}

const lineOf = (cells: readonly Cell[]) => `${cells.map(csvCell).join(',')}\r\n`

/** A spreadsheet would calculate what begins like a formula; an apostrophe makes it text. */
function csvCell(value: Cell): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = opensFormula.test(value) ? `'${value}` : value
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
