import { normaliseNumber } from '../../../../../src/base/phone/phone-number.ts'

/** The columns that hold the number and the placeholders of the text. */
export type Columns = { number: number; placeholders: Record<string, number> }

/** A column with samples from its first rows. A file without a heading has columns without names. */
export type Column = { name: string; samples: string[] }

/** A first row without any number is a heading. */
export const isHeading = (fields: string[]) => fields.every(field => normaliseNumber(field.trim()) === undefined)

const plain = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

const numberNames =
  /^(destination|phones?|phonen(umber|o)|tel|telephone(number)?|mobile(phone|number)?|cell(phone)?|msisdn|number|recipient|телефон(ы|номер)?|номер(а|телефона|тел)?|тел|моб|мобильный(телефон|номер)?|сотовый(телефон)?|контактныйтелефон|получатель|абонент)$/

/** Different words for the same thing, in the languages of our users. */
const sameThings = [
  ['name', 'firstname', 'имя', 'клиент', 'client', 'customer'],
  ['code', 'promo', 'promocode', 'код', 'промокод'],
  ['city', 'город'],
  ['sum', 'amount', 'сумма'],
  ['date', 'дата'],
]

/** Matches columns by their names, and the number also by the values of the first rows. */
export function matchColumns(columns: Column[], placeholders: string[]): Columns {
  return {
    number: numberColumnOf(columns),
    placeholders: Object.fromEntries(placeholders.map(name => [name, columnFor(columns, name)])),
  }
}

function numberColumnOf(columns: Column[]): number {
  const named = columns.findIndex(({ name }) => numberNames.test(plain(name)))
  if (named >= 0) return named
  return columns.findIndex(({ samples }) => samples.some(text => normaliseNumber(text.trim()) !== undefined))
}

/** -1 if no column matches. */
function columnFor(columns: Column[], placeholder: string): number {
  const exact = columns.findIndex(({ name }) => plain(name) === plain(placeholder) && name !== '')
  if (exact >= 0) return exact
  const same = sameThings.find(words => words.includes(plain(placeholder))) ?? []
  return columns.findIndex(({ name }) => same.includes(plain(name)))
}
