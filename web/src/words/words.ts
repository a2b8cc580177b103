import { useSyncExternalStore } from 'react'
import type { Language } from '../../../src/domain/people/person.ts'
import type { further } from './en/further.ts'
import type { en } from './en.ts'

/**
 * The texts of the pages. `en.ts` says which there are; TypeScript finds those that another language lacks. A text has
 * places, `{name}`, and one that depends on a number has a form for each plural of its language, chosen by `{count}`.
 */
type English = typeof en & typeof further
export type Key = keyof English
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
export type FirstWords = Record<keyof typeof en, Text>
export type FurtherWords = Record<keyof typeof further, Text>
export type Dictionary = FirstWords & Partial<FurtherWords>

type PlacesIn<T> = T extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesIn<Rest> : never
type FormsOf<T> = T extends string ? T : T[keyof T]
/** What the places of a text must be given. */
type Places<K extends Key> = PlacesIn<FormsOf<English[K]>>
type Given<K extends Key> = [Places<K>] extends [never] ? [] : [{ [P in Places<K>]: string | number }]

export type Say = <K extends Key>(key: K, ...given: Given<K>) => string
export type Words = { language: Language; say: Say }

const firstWords: Record<Language, () => Promise<FirstWords>> = {
  en: async () => (await import('./en.ts')).en,
  ru: async () => (await import('./ru.ts')).ru,
}
const furtherWords: Record<Language, () => Promise<FurtherWords>> = {
  en: async () => (await import('./en/further.ts')).further,
  ru: async () => (await import('./ru/further.ts')).further,
}

export const languageNames: Record<Language, string> = { en: 'English', ru: 'Русский' }
export const locales: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

export function wordsOf(language: Language, dictionary: Dictionary): Words {
  const rules = new Intl.PluralRules(locales[language])
  const numbers = new Intl.NumberFormat(locales[language])
  const formOf = (text: Text = '', count: unknown) =>
    typeof text === 'string' ? text : (text[rules.select(Number(count))] ?? text.other ?? '')

  const say = (key: Key, given: Record<string, string | number> = {}) =>
    formOf(dictionary[key], given.count).replace(/\{(\w+)\}/g, (_, place) => {
      const value = given[place]
      return typeof value === 'number' ? numbers.format(value) : (value ?? '')
    })
  return { language, say: say as Say }
}

// The language that is shown ------------------------------------------------------------------------------------------

const CHOICE = 'tidings-language'

let shown: Words
/** Whether a page was opened that needs them. */
let needsFurther = false
let furtherShown: Promise<void> | undefined
const listeners = new Set<() => void>()

/** Loads the texts of a language and shows them everywhere. */
export async function showLanguage(language: Language): Promise<void> {
  if (shown?.language !== language) await show(language)
}

/** Loads a page, and the words that it needs beyond the first ones. */
export async function withFurtherWords<Page>(page: Promise<Page>): Promise<Page> {
  needsFurther = true
  if (shown) furtherShown ??= show(shown.language).catch(forgetFurther)
  await furtherShown
  return page
}

/** The next page tries again. */
function forgetFurther(error: unknown) {
  furtherShown = undefined
  throw error
}

async function show(language: Language) {
  const isWhole = needsFurther
  const [first, further] = await Promise.all([firstWords[language](), isWhole ? furtherWords[language]() : {}])
  if (needsFurther && !isWhole) return show(language) // a page that needs more was opened meanwhile
  shown = wordsOf(language, { ...first, ...further })
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}

/** The choice on this device, else what the browser asks for. */
export function languageOfDevice(): Language {
  const chosen = localStorage.getItem(CHOICE)
  const wanted = [chosen, ...navigator.languages].map(tag => tag?.slice(0, 2))
  return wanted.find(tag => tag === 'en' || tag === 'ru') ?? 'en'
}

/** Remembered on this device, for the pages before sign-in. Null: what the browser asks for. */
export async function chooseLanguage(language: Language | null): Promise<void> {
  if (language === null) localStorage.removeItem(CHOICE)
  else localStorage.setItem(CHOICE, language)
  await showLanguage(languageOfDevice())
}

function listen(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const currentWords = () => shown
export const useWords = (): Words => useSyncExternalStore(listen, currentWords)
