import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { errorDescriptions } from '../../../src/base/error-codes.ts'
import type { Dictionary, Further, FurtherWords, Key, Text } from './dictionary.ts'
import { company as companyEnglish } from './en/of-company.ts'
import { developers as developersEnglish } from './en/of-developers.ts'
import { money as moneyEnglish } from './en/of-money.ts'
import { service as serviceEnglish } from './en/of-service.ts'
import { verification as verificationEnglish } from './en/of-verification.ts'
import { en as firstEnglish } from './en.ts'
import { company as companyRussian } from './ru/of-company.ts'
import { developers as developersRussian } from './ru/of-developers.ts'
import { money as moneyRussian } from './ru/of-money.ts'
import { service as serviceRussian } from './ru/of-service.ts'
import { verification as verificationRussian } from './ru/of-verification.ts'
import { ru as firstRussian } from './ru.ts'
import { currentWords, showLanguage, withWords, wordsOf } from './words.ts'

const further: FurtherWords = {
  company: companyEnglish,
  developers: developersEnglish,
  money: moneyEnglish,
  service: serviceEnglish,
  verification: verificationEnglish,
}
const furtherRussian: FurtherWords = {
  company: companyRussian,
  developers: developersRussian,
  money: moneyRussian,
  service: serviceRussian,
  verification: verificationRussian,
}
const en = Object.assign({}, firstEnglish, ...Object.values(further)) as Record<Key, Text>
const ru = Object.assign({}, firstRussian, ...Object.values(furtherRussian)) as Record<Key, Text>
const dictionaries: Record<'en' | 'ru', Dictionary> = { en, ru }
const formsOf = (text: Text): string[] => (typeof text === 'string' ? [text] : Object.values(text))
const placesIn = (text: Text) => [
  ...new Set(formsOf(text).flatMap(form => [...form.matchAll(/\{(\w+)\}/g)].map(([, place]) => place))),
]

test('every text exists in both languages, in the same order, with the same placeholders', () => {
  expect(Object.keys(ru)).toEqual(Object.keys(en))
  for (const [key, text] of Object.entries(en))
    expect([key, placesIn(ru[key as keyof typeof en])]).toEqual([key, placesIn(text)])
})

test.each(['en', 'ru'] as const)('a text with a number has every plural form of %s', language => {
  const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  for (const [key, text] of Object.entries(dictionaries[language])) {
    if (typeof text === 'string') continue
    expect([key, Object.keys(text).sort()]).toEqual([key, [...wanted].sort()])
    for (const form of formsOf(text)) expect(form).toContain('{count}')
  }
})

/** Names of channels and operators are brands, and most are equal in both languages. */
const isBrandName = (key: string) => /^(channel|operator|gateway\.connector)\./.test(key)

test('Russian texts are in Russian', () => {
  const alike = Object.entries(ru).filter(([key, text]) => text === en[key as keyof typeof en])
  expect(alike.map(([key]) => key).filter(key => !isBrandName(key))).toEqual(['app.name'])
})

const isMadeForGateways = (key: string) =>
  /^(gateways\.count|gateway\.(standing|connector|error|pause|resume|test)|setting|health\.(level|check|advice))\./.test(
    key,
  ) || ['health.engine', 'health.api'].includes(key)

test('every text is used', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const sources = files.filter(file => /\.tsx?$/.test(file) && !/words\/(en|ru)(\/.*)?\.ts$|\.test\.ts$/.test(file))
  const code = sources.map(file => readFileSync(join(source, file), 'utf8')).join('\n')
  const isOfReview = (key: string) =>
    /^(review\.(status|history|by|state|reject|deny)|senders\.(type|form\.name)|templates\.type)\./.test(key)
  // Keys that the code builds: `role.${role}`.
  const isMade = (key: string) =>
    /^(role|kind|blacklist\.source|audit\.(what|kind|field|status)|theme|people\.link\.notMailed|channel|operator|reason|overview\.status|messages\.status|message\.(accepted|priced|part|callback|means|traffic)|dispatches\.(status|period)|dispatch\.(traffic|waits\.limit|start|stop)|money\.(forecast|kind|sender|traffic|model|billing|statement)|companies\.(type|billing|attention)|verification\.(blocked|captcha|channels|create|field|look\.theme|new))\./.test(
      key,
    )
  const isOfDevelopers = (key: string) => /^(keys\.kind|callbacks\.(receiver|status)|requests\.filter)\./.test(key)
  const isFound = (key: string) =>
    isMade(key) || isOfReview(key) || isOfDevelopers(key) || isMadeForGateways(key) || code.includes(`'${key}'`)
  expect(Object.keys(en).filter(key => !isFound(key))).toEqual([])
})

test('every page loads the parts of the words that it uses', () => {
  const around = ['draw.tsx', 'shell/shell.tsx', 'parts/pages/lost-pages.tsx'].map(file => ({
    page: join(source, file),
    parts: [],
  }))
  const missing = [...around, ...pagesOfRoutes()].flatMap(({ page, parts }) => {
    const used = keysIn([...modulesOf(page)].map(file => readFileSync(file, 'utf8')).join('\n'))
    const loaded = Object.assign({}, firstEnglish, ...parts.map(part => further[part]))
    return Object.keys(en)
      .filter(key => used(key) && !(key in loaded))
      .map(key => [page, key])
  })
  expect(missing).toEqual([])
})

const source = join(import.meta.dirname, '..')

function pagesOfRoutes() {
  const routes = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(file => /routes\.ts$/.test(file))
  const pages = routes.flatMap(file => {
    const found = readFileSync(join(source, file), 'utf8').matchAll(/((?:withWords\('\w+', )*)import\('([^']+)'\)/g)
    return [...found].map(([, wraps = '', page = '']) => ({
      page: join(source, dirname(file), page),
      parts: [...wraps.matchAll(/'(\w+)'/g)].map(([, part]) => part as Further),
    }))
  })
  expect(pages.length).toBeGreaterThan(40)
  return pages
}

/** A page with all modules of the cabinet that it imports, except the words and the other pages. */
function modulesOf(file: string, found = new Set<string>()): Set<string> {
  const isLeft = found.has(file) || !file.startsWith(source) || file.includes('/words/') || file.endsWith('routes.ts')
  if (isLeft) return found
  found.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+\.tsx?)'/g)
  for (const [, path = ''] of imports) modulesOf(join(dirname(file), path), found)
  return found
}

/** Tells whether some code has a key, as a whole or as a text that begins with a part of it: `role.${role}`. */
function keysIn(code: string) {
  const found = (pattern: RegExp) => new Set([...code.matchAll(pattern)].map(([, text]) => text!))
  const whole = found(/'([\w.]+)'/g)
  const begun = found(/`([\w.]+\.)\$\{/g)
  return (key: string) =>
    whole.has(key) || [...key.matchAll(/\./g)].some(({ index }) => begun.has(key.slice(0, index + 1)))
}

test('a number chooses the plural form and is formatted by the rules of the language', () => {
  const { say } = wordsOf('ru', ru)
  expect([1, 3, 5, 21, 1200].map(count => say('people.count', { count }))).toEqual([
    'Войти может 1 человек',
    'Войти могут 3 человека',
    'Войти могут 5 человек',
    'Войти может 21 человек',
    'Войти могут 1\u00a0200 человек',
  ])
  expect(wordsOf('en', en).say('people.count', { count: 1200 })).toBe('1,200 people may sign in')
})

test('the value of a placeholder stays unchanged, including braces and dollar signs', () => {
  const { say } = wordsOf('en', en)
  expect(say('people.deactivate.title', { name: '<b>{name}</b> $& $1' })).toBe('Deactivate <b>{name}</b> $& $1?')
})

test('every reason of a failed message has a text', () => {
  expect(Object.keys(errorDescriptions).filter(code => !(`reason.${code}` in en))).toEqual([])
})

test('shows the language that was chosen last, also if words of the one before arrive later', async () => {
  vi.stubGlobal('document', { documentElement: {} })
  const { promise: ofLast, resolve: arrive } = Promise.withResolvers<void>()
  vi.doMock('./en/of-verification.ts', async original => {
    await ofLast
    return original()
  })
  await showLanguage('en')
  const page = withWords('verification', Promise.resolve('the page'))
  const chosen = showLanguage('ru')
  await vi.waitUntil(() => currentWords().language === 'ru')
  arrive()
  await Promise.all([page, chosen])
  expect([currentWords().language, document.documentElement.lang]).toEqual(['ru', 'ru'])
  expect(currentWords().say('verification.title')).toBe(ru['verification.title'])
  vi.doUnmock('./en/of-verification.ts')
  vi.unstubAllGlobals()
})
