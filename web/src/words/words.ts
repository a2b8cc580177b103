import { useSyncExternalStore } from 'react'
import type { Language } from '../../../src/domain/people/person.ts'
import type { en } from './en.ts'

/**
 * The texts of the pages. `en.ts` says which there are; TypeScript finds those that another language lacks. A text has
 * places, `{name}`, and one that depends on a number has a form for each plural of its language, chosen by `{count}`.
 */
export type Key = keyof typeof en
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
export type Dictionary = Record<Key, Text>

type PlacesIn<T> = T extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesIn<Rest> : never
type FormsOf<T> = T extends string ? T : T[keyof T]
/** What the places of a text must be given. */
type Places<K extends Key> = PlacesIn<FormsOf<(typeof en)[K]>>
type Given<K extends Key> = [Places<K>] extends [never] ? [] : [{ [P in Places<K>]: string | number }]

export type Say = <K extends Key>(key: K, ...given: Given<K>) => string
export type Words = { language: Language; say: Say }

const dictionaries: Record<Language, () => Promise<Dictionary>> = {
  en: async () => (await import('./en.ts')).en,
  ru: async () => (await import('./ru.ts')).ru,
}

export const languageNames: Record<Language, string> = { en: 'English', ru: 'Русский' }
export const locales: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

export function wordsOf(language: Language, dictionary: Dictionary): Words {
  const rules = new Intl.PluralRules(locales[language])
  const numbers = new Intl.NumberFormat(locales[language])
  const formOf = (text: Text, count: unknown) =>
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
const listeners = new Set<() => void>()

/** Loads the texts of a language and shows them everywhere. */
export async function showLanguage(language: Language): Promise<void> {
  if (shown?.language === language) return
  shown = wordsOf(language, await dictionaries[language]())
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
