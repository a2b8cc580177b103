import { Effort, forAccepted, forAllTemplates } from '../src/domain/templates/effort.ts'
import { type ApprovedTemplate, matchTexts } from '../src/domain/templates/matching.ts'
import { compilePattern } from '../src/domain/templates/pattern.ts'
import type { Figure } from './figures.ts'
import { inTurn } from './figures.ts'

export const name = 'templates'
export const about = 'milliseconds of processor time to match 1,000 texts with the templates of a company'

const TEXTS = 1000
const TEMPLATES = 500
const ROUNDS = 9

const GOODS = ['заказ', 'посылка', 'билет', 'запись', 'договор', 'карта', 'счёт', 'доставка', 'возврат', 'бронь']
const STATES = [
  'готов',
  'принят',
  'отменён',
  'в пути',
  'оплачен',
  'ждёт вас',
  'на складе',
  'закрыт',
  'передан',
  'собран',
]
const BEGINNINGS = ['Здравствуйте, %w! Ваш', '%w, ваш', '%w{1,3}! Сообщаем:', 'Уважаемый клиент,', 'Ромашка:']

/** Five beginnings, ten kinds of goods, ten states: 500 texts as shops register them. */
const honest = BEGINNINGS.flatMap(beginning =>
  GOODS.flatMap(thing =>
    STATES.map(state => `${beginning} ${thing} %d ${state}. Сумма %d руб. Адрес: %w{1,10}. Ромашка`),
  ),
)

/** A third of the texts fit none of the templates. */
function honestText(i: number): string {
  const pattern = honest[(i * 37) % honest.length]!
  const address = ['Садовая', 'Большая Садовая 5', 'город Москва улица Тверская дом 7'][i % 3]!
  const values = [i % 2 ? 'Анна' : 'Константин', String(1000 + i), '1499,90', address]
  const places = pattern.match(/%[wd](\{[^}]*\})?/g)!.length
  let next = 4 - places
  const text = pattern.replaceAll(/%[wd](\{[^}]*\})?/g, () => values[next++]!)
  return i % 3 === 0 ? text.replace('Сумма', 'К оплате') : text
}

/**
 * Eight templates of many long places, as they could be stored before patterns were bounded, and texts of any words.
 */
const hostile = Array.from({ length: 8 }, (_, i) => `${`%w{1,100} ${'ab'[i % 2]} `.repeat(49)}%w{1,100} ${i}`)
function hostileText(i: number): string {
  let random = i + 1
  const letters = Array.from({ length: 2047 }, () => {
    random = (random * 48_271) % 2_147_483_647
    return 'abc'[random % 3]
  })
  return letters.join(' ')
}

export async function run(): Promise<Figure[]> {
  const usual = templatesOf(honest)
  const texts = textsOf(honestText)
  const matched = await inTurn(
    ROUNDS,
    () => millisecondsToMatch(usual, texts),
    () => millisecondsToRead(texts),
  )
  const built = await inTurn(
    ROUNDS,
    () => millisecondsToBuild(honest),
    () => millisecondsToRead(texts),
  )
  const attack = textsOf(hostileText)
  const refused = await inTurn(
    3,
    () => millisecondsToRefuse(templatesOf(hostile), attack),
    () => millisecondsToRead(attack),
  )
  const longestPause = await longestPauseOf(templatesOf(hostile), attack)
  return [
    { what: `${TEMPLATES} honest templates, ${TEXTS} texts`, value: matched.ours, unit: 'ms', target: { most: 100 } },
    { what: 'reading the characters of these texts once', value: matched.floor, unit: 'ms' },
    { what: 'ratio', value: matched.ratio, unit: 'x' },
    { what: `making the automaton of ${TEMPLATES} templates`, value: built.ours, unit: 'ms' },
    { what: `8 hostile templates, ${TEXTS} texts of 4,093 characters, until refused`, value: refused.ours, unit: 'ms' },
    { what: 'reading the characters of these texts once', value: refused.floor, unit: 'ms' },
    { what: 'ratio', value: refused.ratio, unit: 'x' },
    { what: 'longest pause of other requests meanwhile', value: longestPause, unit: 'ms' },
  ]
}

/** On a busy machine the clock tells more about the neighbours. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const textsOf = (make: (i: number) => string) =>
  Array.from({ length: TEXTS }, (_, i) => ({ channelType: 'SMS' as const, text: flat(make(i)) }))

/** Concatenated strings are trees until first read; the wire delivers flat ones. */
const flat = (text: string): string => JSON.parse(JSON.stringify(text))

const templatesOf = (patterns: string[]): ApprovedTemplate[] =>
  patterns.map((pattern, templateId) => ({
    templateId,
    channelType: 'SMS',
    trafficType: 'SERVICE',
    pattern,
    senderName: null,
    content: null,
    validTo: null,
    compiled: compilePattern(pattern),
  }))

type Texts = ReturnType<typeof textsOf>

async function millisecondsToMatch(templates: ApprovedTemplate[], texts: Texts): Promise<number> {
  const start = processorMs()
  const matches = await matchTexts(templates, texts, new Effort(forAllTemplates))
  const took = processorMs() - start
  if (matches.size < TEXTS / 2 || matches.size === TEXTS) throw new Error(`${matches.size} texts matched`)
  return took
}

async function millisecondsToBuild(patterns: string[]): Promise<number> {
  const start = processorMs()
  await matchTexts(templatesOf(patterns), [{ channelType: 'SMS', text: 'x' }], new Effort(forAccepted))
  return processorMs() - start
}

async function millisecondsToRefuse(templates: ApprovedTemplate[], texts: Texts): Promise<number> {
  const start = processorMs()
  await matchTexts(templates, texts, new Effort(forAllTemplates)).then(
    () => {
      throw new Error('it was not refused')
    },
    () => {},
  )
  return processorMs() - start
}

async function longestPauseOf(templates: ApprovedTemplate[], texts: Texts): Promise<number> {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const look = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(look)
  }
  look()
  await millisecondsToRefuse(templates, texts)
  isOver = true
  return longest
}

async function millisecondsToRead(texts: Texts): Promise<number> {
  const start = processorMs()
  let sum = 0
  for (const { text } of texts) for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i)
  if (sum <= 0) throw new Error('the measured work came to nothing')
  return processorMs() - start
}
