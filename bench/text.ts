import { smsParts } from '../src/base/content/sms-text.ts'
import { compileTemplate } from '../src/base/content/text-template.ts'
import type { Figure } from './figures.ts'

export const name = 'text'
export const about = 'nanoseconds to fill in a text and count its parts'

const RECIPIENTS = 10_000
const ROUNDS = 20

const TEMPLATE =
  'Уважаемый {name}, ваш заказ готов к выдаче. Сумма к оплате: {amount} руб. Ждём вас каждый день с 9 до 21!'
const NAMES = ['Иван', 'Анна', 'Пётр', 'Ольга', 'Константин', 'Мария', 'Юлия']

/** What the text of one recipient costs, beside reading its characters once and doing nothing with them. */
export async function run(): Promise<Figure[]> {
  const recipients = Array.from({ length: RECIPIENTS }, (_, i) => ({
    name: NAMES[i % NAMES.length]!,
    amount: 1000 + i,
  }))
  const template = compileTemplate(TEMPLATE)
  const cyrillic = flat(recipients.map(recipient => template.render(recipient)!))
  const latin = flat(recipients.map((_, i) => `Order ${1000 + i} is ready for collection. `.padEnd(100, 'We wait. ')))

  const bare = nanosecondsEach(cyrillic, readCharacters)
  const beside = (what: string, ns: number): Figure[] => [
    { what, value: ns, unit: 'ns a text' },
    { what: `${what}, to the bare loop`, value: ns / bare, unit: '' },
  ]
  return [
    { what: 'a bare loop over charCodeAt', value: bare, unit: 'ns a text' },
    ...beside('parts of 100 Cyrillic characters', nanosecondsEach(cyrillic, smsParts)),
    ...beside('parts of 100 Latin characters', nanosecondsEach(latin, smsParts)),
    ...beside(
      'filled in, and its parts',
      nanosecondsEach(recipients, each => smsParts(template.render(each)!)),
    ),
  ]
}

/** Concatenated strings are trees until first read; the wire delivers flat ones. */
function flat(texts: string[]): string[] {
  return JSON.parse(JSON.stringify(texts))
}

/** The best of several rounds: what disturbs a round only ever makes it slower. */
function nanosecondsEach<T>(items: T[], measure: (item: T) => number): number {
  let best = Number.POSITIVE_INFINITY
  let sum = 0
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint()
    for (const item of items) sum += measure(item)
    best = Math.min(best, Number(process.hrtime.bigint() - start) / items.length)
  }
  // Reading the sum keeps the compiler from removing the work.
  if (sum <= 0) throw new Error('the measured work came to nothing')
  return best
}

function readCharacters(text: string): number {
  let sum = 0
  for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i)
  return sum
}
