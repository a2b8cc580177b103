import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { errorDescriptions } from '../../../src/base/error-codes.ts'
import type { Dictionary, Text } from './dictionary.ts'
import { company as companyEnglish } from './en/of-company.ts'
import { service as serviceEnglish } from './en/of-service.ts'
import { verification as verificationEnglish } from './en/verification.ts'
import { en as firstEnglish } from './en.ts'
import { company as companyRussian } from './ru/of-company.ts'
import { service as serviceRussian } from './ru/of-service.ts'
import { verification as verificationRussian } from './ru/verification.ts'
import { ru as firstRussian } from './ru.ts'
import { currentWords, showLanguage, withWords, wordsOf } from './words.ts'

const en = { ...firstEnglish, ...companyEnglish, ...serviceEnglish, ...verificationEnglish }
const ru = { ...firstRussian, ...companyRussian, ...serviceRussian, ...verificationRussian }
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
  const folder = join(import.meta.dirname, '..')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter(file => /\.tsx?$/.test(file) && !/words\/(en|ru)(\/.*)?\.ts$|\.test\.ts$/.test(file))
  const code = sources.map(file => readFileSync(join(folder, file), 'utf8')).join('\n')
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
