import { Readable } from 'node:stream'
import { moneyToNumber } from '../../../../base/money.ts'
import type { Sql } from '../../../../db/sql.ts'
import type { Company } from '../../../../domain/companies/company.ts'
import { changeOfBalance } from '../../../../domain/ledger/account.ts'
import type { LedgerLine, LineFilter } from '../../../../domain/ledger/line.ts'
import { everyLine } from '../../../../domain/ledger/lines.ts'
import type { Language } from '../../../../domain/people/person.ts'
import { type Cell, csvOf, csvStyles } from '../../reports/csv.ts'
import { operatorName, type StatementFile, sectionsOf } from './statement-sections.ts'
import { type StatementWords, wordsOf } from './statement-words.ts'

/** A row for each item, with its section. */
export function statementCsv(file: StatementFile): Readable {
  const words = wordsOf[file.language]
  const { statement, company } = file
  const summary: Cell[][] = (['opening', 'toppedUp', 'corrected', 'spent', 'closing'] as const).map(name => [
    words.summary,
    words[name],
    null,
    null,
    moneyToNumber(statement[name]),
  ])
  const rows = sectionsOf(file).flatMap(({ title, rows, total }): Cell[][] => [
    ...rows.map(({ name, messages, parts, amount }): Cell[] => [
      title,
      name,
      messages ?? null,
      parts ?? null,
      moneyToNumber(amount),
    ]),
    [title, words.total, null, null, moneyToNumber(total)],
  ])
  const head = [words.section, words.name, words.messages, words.parts, `${words.amount}, ${company.currency}`]
  return Readable.from(csvOf(head, Readable.from([summary, rows]), csvStyles[file.language]))
}

/** Ledger entries, written while they are read. Spent amounts are negative. */
export function ledgerCsv(sql: Sql, { companyId, currency }: Company, filter: LineFilter, language: Language) {
  const words = wordsOf[language]
  const head = [
    words.day,
    words.kind,
    words.cause,
    words.dispatchId,
    words.messages,
    `${words.amount}, ${currency}`,
    words.comment,
  ]
  return csvOf(head, rowsOf(sql, companyId, filter, words), csvStyles[language])
}

async function* rowsOf(
  sql: Sql,
  companyId: number,
  filter: LineFilter,
  words: StatementWords,
): AsyncGenerator<Cell[][]> {
  for await (const lines of everyLine(sql, companyId, filter)) yield lines.map(line => rowOf(line, words))
}

const rowOf = (line: LedgerLine, words: StatementWords): Cell[] => [
  line.day,
  words.kinds[line.kind],
  causeOf(line, words),
  line.dispatchId,
  line.kind === 'MESSAGES' ? line.messages : null,
  moneyToNumber(changeOfBalance(line)),
  line.note,
]

function causeOf({ kind, dispatchName, senderName, brand }: LedgerLine, words: StatementWords): string | null {
  if (kind === 'TOPUP' || kind === 'CORRECTION') return null
  if (kind === 'SENDER_FEE')
    return [senderName, brand && operatorName(brand, words)].filter(Boolean).join(' · ') || null
  return dispatchName ?? words.singles
}
