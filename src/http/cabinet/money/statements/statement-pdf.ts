/// <reference path="./pdfkit.d.ts" />
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import type { Money } from '../../../../base/money.ts'
import { dayOf } from '../../../../domain/ledger/account.ts'
import {
  amountsOf,
  countOf,
  dateOf,
  monthName,
  periodOf,
  type StatementFile,
  type StatementSection,
  sectionsOf,
} from './statement-sections.ts'
import { wordsOf } from './statement-words.ts'

const { resolve } = createRequire(import.meta.url)
const fonts = {
  text: '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  medium: '@expo-google-fonts/inter/500Medium/Inter_500Medium.ttf',
  strong: '@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf',
}

/** The colours of the cabinet's light theme. */
const colours = {
  text: '#16171b',
  second: '#555964',
  third: '#696d78',
  line: '#ebebee',
  strong: '#d9dae0',
  accent: '#3450d6',
}
const MARK =
  'M3.7 7.1c3.9-.9 6.8.1 8.3 2.5 1.5-2.4 4.4-3.4 8.3-2.5-3.5 1-5.7 3-6.3 5.7l1.2 5.9L12 16.1l-3.2 2.6 1.2-5.9C9.4 10.1 7.2 8.1 3.7 7.1z'

const EDGE = 48
const WIDTH = 595.28 - 2 * EDGE
const BOTTOM = 841.89 - 64
const ROW = 20
/** The right edges of the columns with numbers. */
const columns = { messages: EDGE + WIDTH - 190, parts: EDGE + WIDTH - 120, amount: EDGE + WIDTH }

/** A statement on pages of A4, with our mark. */
export function statementPdf(file: StatementFile): Promise<Buffer> {
  const page = new StatementPages(file)
  page.head()
  page.details()
  page.summary()
  const sections = sectionsOf(file)
  for (const section of sections) page.section(section)
  if (sections.length === 0) page.quiet()
  page.feet()
  return page.end()
}

class StatementPages {
  readonly #file: StatementFile
  readonly #doc: PDFDocument
  readonly #made: Promise<Buffer>
  #y = EDGE

  constructor(file: StatementFile) {
    this.#file = file
    const { company, statement, language } = file
    const Title = `${wordsOf[language].statement}, ${monthName(statement.month, language)}, ${company.name}`
    const info = { Title, Producer: 'Tidings', Creator: 'Tidings' }
    this.#doc = new PDFDocument({ size: 'A4', margin: 0, bufferPages: true, info, lang: language })
    for (const [name, font] of Object.entries(fonts)) this.#doc.registerFont(name, resolve(font))
    this.#made = buffer(this.#doc)
  }

  head() {
    const { statement, language } = this.#file
    const words = wordsOf[language]
    this.#doc.save().translate(EDGE, this.#y)
    this.#doc.roundedRect(0, 0, 24, 24, 6.5).fill(colours.accent)
    this.#doc.path(MARK).fill('#ffffff').restore()
    this.#write('strong', 13, 'Tidings', EDGE + 33, this.#y + 5)
    this.#y += 52
    const title = `${words.statement} · ${monthName(statement.month, language)}`
    this.#write('strong', 20, title, EDGE, this.#y)
    this.#y += 36
  }

  details() {
    const { company, language } = this.#file
    const words = wordsOf[language]
    const lines: [string, string | null][] = [
      [words.period, periodOf(this.#file)],
      [words.company, company.name],
      [words.legalName, company.counteragentName === company.name ? null : company.counteragentName],
      [words.inn, company.counteragentInn],
      [words.kpp, company.counteragentKpp],
      [words.address, company.counteragentAddress],
    ]
    for (const [name, value] of lines) {
      if (value === null) continue
      this.#write('text', 9, name, EDGE, this.#y, colours.third)
      this.#y += this.#writeLines('text', 9, value, EDGE + 110, this.#y, WIDTH - 110) + 4
    }
    this.#y += 18
  }

  /** The totals of the month. */
  summary() {
    const { statement, language } = this.#file
    const words = wordsOf[language]
    const { corrections } = statement
    const corrected = corrections.length > 0 ? (['corrected'] as const) : []
    const names = ['opening', 'toppedUp', ...corrected, 'spent', 'closing'] as const
    const { withSign } = this.#amounts(names.map(name => statement[name]))
    const width = WIDTH / names.length
    names.forEach((name, place) => {
      this.#write('text', 9, words[name], EDGE + place * width, this.#y, colours.third)
      this.#write('strong', 12, withSign(statement[name]), EDGE + place * width, this.#y + 14)
    })
    this.#y += 54
  }

  section({ title, isCounted, rows, total }: StatementSection) {
    const words = wordsOf[this.#file.language]
    this.#makeRoom(34 + 3 * ROW)
    this.#write('strong', 12, title, EDGE, this.#y)
    this.#y += 24
    this.#headOfTable(isCounted)
    const { plain } = this.#amounts([...rows.map(({ amount }) => amount), total])
    for (const { name, messages, parts, amount } of rows) {
      if (this.#makeRoom(ROW)) this.#headOfTable(isCounted)
      const height = this.#writeLines('text', 9, name, EDGE, this.#y + 5, WIDTH - (isCounted ? 260 : 120))
      this.#figures({ messages, parts }, this.#y + 5)
      this.#right('text', plain(amount), columns.amount, this.#y + 5)
      this.#y += Math.max(ROW, height + 9)
      this.#rule(colours.line)
    }
    this.#makeRoom(ROW)
    this.#write('strong', 9, words.total, EDGE, this.#y + 6)
    this.#right('strong', plain(total), columns.amount, this.#y + 6)
    this.#y += ROW + 24
  }

  /** Shown instead of sections if the month has no entries. */
  quiet() {
    this.#write('text', 9, wordsOf[this.#file.language].quiet, EDGE, this.#y, colours.second)
  }

  /** Runs after all pages are drawn, because each page shows the number of pages. */
  feet() {
    const { at, zone, language } = this.#file
    const words = wordsOf[language]
    const day = dayOf(at, zone)
    const { start, count } = this.#doc.bufferedPageRange()
    for (let place = start; place < start + count; place++) {
      this.#doc.switchToPage(place)
      this.#write('text', 8, `${words.madeOn} ${dateOf(day, language)}`, EDGE, 841.89 - 40, colours.third)
      const number = `${words.page} ${place + 1} ${words.of} ${count}`
      this.#right('text', number, EDGE + WIDTH, 841.89 - 40, { size: 8, colour: colours.third })
    }
  }

  end(): Promise<Buffer> {
    this.#doc.end()
    return this.#made
  }

  #headOfTable(isCounted: boolean) {
    const words = wordsOf[this.#file.language]
    const look = { size: 8, colour: colours.third }
    this.#write('text', 8, words.name, EDGE, this.#y, colours.third)
    if (isCounted) {
      this.#right('text', words.messages, columns.messages, this.#y, look)
      this.#right('text', words.parts, columns.parts, this.#y, look)
    }
    this.#right('text', `${words.amount}, ${this.#amounts([]).sign}`, columns.amount, this.#y, look)
    this.#y += 15
    this.#rule(colours.strong)
  }

  #figures({ messages, parts }: { messages: number | undefined; parts: number | undefined }, y: number) {
    const { language } = this.#file
    if (messages !== undefined) this.#right('text', countOf(language, messages), columns.messages, y)
    if (parts !== undefined) this.#right('text', countOf(language, parts), columns.parts, y)
  }

  #amounts(amounts: Money[]) {
    return amountsOf(this.#file.language, this.#file.company.currency, amounts)
  }

  /** Begins a new page if the height does not fit. */
  #makeRoom(height: number): boolean {
    if (this.#y + height <= BOTTOM) return false
    this.#doc.addPage()
    this.#y = EDGE
    return true
  }

  #rule(colour: string) {
    this.#doc
      .moveTo(EDGE, this.#y)
      .lineTo(EDGE + WIDTH, this.#y)
      .lineWidth(0.6)
      .stroke(colour)
  }

  #write(font: keyof typeof fonts, size: number, text: string, x: number, y: number, colour = colours.text) {
    this.#doc
      .font(font)
      .fontSize(size)
      .fillColor(colour)
      .text(text, x, y, { lineBreak: false, features: ['tnum'] })
  }

  /** Writes a text within a width. Returns its height. */
  #writeLines(font: keyof typeof fonts, size: number, text: string, x: number, y: number, width: number): number {
    this.#doc
      .font(font)
      .fontSize(size)
      .fillColor(colours.text)
      .text(text, x, y, { width, features: ['tnum'] })
    return this.#doc.y - y
  }

  #right(font: keyof typeof fonts, text: string, end: number, y: number, { size = 9, colour = colours.text } = {}) {
    const width = this.#doc
      .font(font)
      .fontSize(size)
      .widthOfString(text, { features: ['tnum'] })
    this.#write(font, size, text, end - width, y, colour)
  }
}
