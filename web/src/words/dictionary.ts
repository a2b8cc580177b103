import type { developers } from './en/developers.ts'
import type { money } from './en/money.ts'
import type { company } from './en/of-company.ts'
import type { service } from './en/of-service.ts'
import type { verification } from './en/verification.ts'
import type { en } from './en.ts'

/**
 * The texts of the pages. `en.ts` defines the keys; TypeScript finds missing texts of another language. A text may have
 * placeholders, `{name}`. A text that depends on a number has a form for each plural of its language, chosen by
 * `{count}`.
 */
export type English = typeof en &
  typeof company &
  typeof developers &
  typeof money &
  typeof service &
  typeof verification
export type Key = keyof English
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
export type FirstWords = Record<keyof typeof en, Text>
/** Words that are loaded with the first page that needs them. */
export type FurtherWords = {
  company: Record<keyof typeof company, Text>
  developers: Record<keyof typeof developers, Text>
  money: Record<keyof typeof money, Text>
  service: Record<keyof typeof service, Text>
  verification: Record<keyof typeof verification, Text>
}
export type Further = keyof FurtherWords
export type Dictionary = FirstWords & Partial<Record<Exclude<Key, keyof FirstWords>, Text>>
