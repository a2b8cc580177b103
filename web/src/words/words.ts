import { useSyncExternalStore } from 'react'
import type { Language } from '../../../src/domain/people/person.ts'
import type { Dictionary, English, FirstWords, Further, FurtherWords, Key, Text } from './dictionary.ts'
import { numberFormat, pluralOf } from './intl.ts'

type PlacesIn<T> = T extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesIn<Rest> : never
type FormsOf<T> = T extends string ? T : T[keyof T]
/** The values for the placeholders of a text. */
type Places<K extends Key> = PlacesIn<FormsOf<English[K]>>
type Given<K extends Key> = [Places<K>] extends [never] ? [] : [{ [P in Places<K>]: string | number }]

export type Say = <K extends Key>(key: K, ...given: Given<K>) => string
export type Words = { language: Language; say: Say }

const firstWords: Record<Language, () => Promise<FirstWords>> = {
  en: async () => (await import('./en.ts')).en,
  ru: async () => (await import('./ru.ts')).ru,
}
const furtherWords: { [Part in Further]: Record<Language, () => Promise<FurtherWords[Part]>> } = {
  company: {
    en: async () => (await import('./en/of-company.ts')).company,
    ru: async () => (await import('./ru/of-company.ts')).company,
  },
  developers: {
    en: async () => (await import('./en/of-developers.ts')).developers,
    ru: async () => (await import('./ru/of-developers.ts')).developers,
  },
  money: {
    en: async () => (await import('./en/of-money.ts')).money,
    ru: async () => (await import('./ru/of-money.ts')).money,
  },
  service: {
    en: async () => (await import('./en/of-service.ts')).service,
    ru: async () => (await import('./ru/of-service.ts')).service,
  },
  verification: {
    en: async () => (await import('./en/of-verification.ts')).verification,
    ru: async () => (await import('./ru/of-verification.ts')).verification,
  },
}

export const languageNames: Record<Language, string> = { en: 'English', ru: 'Русский' }
export const locales: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

export function wordsOf(language: Language, dictionary: Dictionary): Words {
  const number = numberFormat(locales[language])
  const formOf = (text: Text = '', count: unknown) =>
    typeof text === 'string' ? text : (text[pluralOf(locales[language], Number(count))] ?? text.other ?? '')

  const say = (key: Key, given: Record<string, string | number> = {}) =>
    formOf(dictionary[key], given.count).replace(/\{(\w+)\}/g, (_, place) => {
      const value = given[place]
      return typeof value === 'number' ? number(value) : (value ?? '')
    })
  return { language, say: say as Say }
}

// The language that is shown ------------------------------------------------------------------------------------------

const CHOICE = 'tidings-language'

let shown: Words
/** The language that was chosen last. Its words may still be loading. */
let wanted: Language
/** The later parts of words that the opened pages needed. */
const needed = new Set<Further>()
let shownParts = 0
const listeners = new Set<() => void>()

/** Loads the texts of a language and shows them everywhere. */
export async function showLanguage(language: Language): Promise<void> {
  wanted = language
  if (shown?.language !== language) await show()
}

export const wantedLanguage = () => wanted

/** Loads a page together with a later part of the words. */
export async function withWords<Page>(part: Further, page: Promise<Page>): Promise<Page> {
  needed.add(part)
  if (shown) await show()
  return page
}

/** Loads all needed words. The browser caches loaded modules, so that loading again is free. */
async function show() {
  const language = wanted
  const parts = [...needed]
  const [first, ...further] = await Promise.all([
    firstWords[language](),
    ...parts.map((part): Promise<object> => furtherWords[part][language]()),
  ])
  // Meanwhile another language was chosen, or a page with further words was opened.
  if (language !== wanted || needed.size > parts.length) return show()
  if (shown?.language === language && shownParts === parts.length) return
  shown = wordsOf(language, Object.assign({}, first, ...further))
  shownParts = parts.length
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}

/** The language chosen on this device, else the language of the browser. */
export function languageOfDevice(): Language {
  const chosen = localStorage.getItem(CHOICE)
  const wanted = [chosen, ...navigator.languages].map(tag => tag?.slice(0, 2))
  return wanted.find(tag => tag === 'en' || tag === 'ru') ?? 'en'
}

/** Stores the choice on this device, for the pages before sign-in. Null means the language of the browser. */
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
