import { csvLine, csvStyles, UTF8_MARK } from '../../../../src/http/cabinet/reports/csv.ts'
import type { Words } from '../../words/words.ts'
import type { BadLine } from './reading/tasks.ts'
import { describeFault } from './reading-problem.ts'

/** Downloads the skipped lines with their reasons, as a file for spreadsheets in the reader's language. */
export function downloadBadLines(words: Words, lines: BadLine[]) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([csvOfBadLines(words, lines)], { type: 'text/csv' }))
  link.download = 'bad-lines.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}

export function csvOfBadLines(words: Words, lines: BadLine[]): string {
  const { say, language } = words
  const head = [say('new.bad.file.line'), say('new.bad.file.number'), say('new.bad.what')]
  const rows = lines.map(({ line, written, fault }) => [line, written, describeFault(words, fault)])
  return UTF8_MARK + [head, ...rows].map(row => csvLine(row, csvStyles[language])).join('')
}
