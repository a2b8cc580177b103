import { moneyToNumber } from '../../../base/money.ts'
import { timeOfUuid7 } from '../../../base/uuid7.ts'
import { type FoundPage, reportBounds, type ShownMessage } from '../../../domain/message-search/box-search.ts'
import { OTHER_BRAND_ID } from '../../../domain/numbering/brand.ts'
import type { Language } from '../../../domain/people/person.ts'
import { type Cell, csvOf, csvStyles } from '../reports/csv.ts'
import { type Clock, clockIn } from '../reports/report.ts'
import { type ReportWords, reportWordsOf } from '../reports/report-words.ts'

type Options = { language: Language; zone: string; hasPrices: boolean; hasCompanies: boolean }
type Column = { name: string; of(message: ShownMessage): Cell }

/** The result of a search, a row for each message. If the file does not have all messages, its last row says so. */
export function messageReport(pages: AsyncIterable<FoundPage>, options: Options): AsyncGenerator<string> {
  const words = reportWordsOf(options.language)
  const at = clockIn(options.zone)
  const columns = columnsOf(options, words, at)
  const head = columns.map(({ name }) => name)
  return csvOf(head, rowsOf(pages, columns, words, at), csvStyles[options.language])
}

const columnsOf = ({ zone, hasPrices, hasCompanies }: Options, words: ReportWords, at: Clock): Column[] => [
  ...(hasCompanies ? [{ name: words.company, of: ({ companyName }: ShownMessage) => companyName }] : []),
  { name: words.number, of: ({ destination }) => destination },
  { name: words.operator, of: ({ brandId }) => words.operatorOf(brandId ?? OTHER_BRAND_ID) },
  { name: words.channel, of: ({ channelType }) => words.channelOf(channelType) },
  { name: words.senderName, of: ({ senderName }) => senderName },
  { name: words.status, of: ({ status, sentAt }) => words.statusOf(status ?? 'CREATED', sentAt !== null) },
  { name: words.reason, of: ({ errorCode }) => (errorCode === null ? null : words.reasonOf(errorCode)) },
  { name: words.errorCode, of: ({ errorCode }) => errorCode },
  { name: words.operatorError, of: ({ operatorError }) => operatorError },
  { name: words.parts, of: ({ parts }) => parts },
  ...(hasPrices ? [{ name: words.price, of: priceOf }] : []),
  { name: `${words.accepted} (${zone})`, of: ({ uuid }) => at(timeOfUuid7(uuid)) },
  { name: `${words.sent} (${zone})`, of: ({ sentAt }) => at(sentAt) },
  { name: `${words.finished} (${zone})`, of: ({ finalAt }) => at(finalAt) },
  { name: words.text, of: ({ text }) => text },
  { name: words.dispatch, of: ({ dispatchName }) => dispatchName },
  { name: words.ownId, of: ({ externalId }) => externalId },
  { name: words.messageId, of: ({ uuid }) => uuid },
]

/** The charge of the message. While the message is not final, the amount held for it. */
const priceOf = ({ finalPrice, price }: ShownMessage) => moneyToNumber(finalPrice ?? price)

async function* rowsOf(
  pages: AsyncIterable<FoundPage>,
  columns: Column[],
  words: ReportWords,
  at: Clock,
): AsyncGenerator<Cell[][]> {
  for await (const page of pages) {
    const rows = page.items.map(message => columns.map(({ of }) => of(message)))
    yield page.endedBy ? [...rows, [endOf(page, words, at)]] : rows
  }
}

function endOf({ endedBy, reachedAt }: FoundPage, words: ReportWords, at: Clock): string {
  const reached = at(reachedAt) ?? ''
  return endedBy === 'count' ? words.endedByCount(reportBounds.most, reached) : words.endedByTime(reached)
}
