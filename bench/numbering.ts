import { brandFinder } from '../src/domain/numbering/brand.ts'
import { codeOf, Numbering } from '../src/domain/numbering/lookup.ts'
import { classify } from '../src/domain/numbering/numbering.ts'
import { includedPlan } from '../src/domain/numbering/plan.ts'
import { PortedNumbers, packPorted } from '../src/domain/numbering/ported.ts'
import { CODE_SIZE } from '../src/domain/numbering/register.ts'
import { type Figure, median } from './figures.ts'

export const name = 'numbering'
export const about = 'nanoseconds to find the operator and region of a number'

const ASKED = 100_000
const ROUNDS = 20
/** Under a microsecond is promised. */
const MOST_NS = 1000

export async function run(): Promise<Figure[]> {
  const numbers = Array.from({ length: ASKED }, randomNumber)
  const foreign = numbers.map(number => `375${number.slice(2)}`)
  const plain = new Numbering(1, includedPlan(), new Map(), brandFinder([]))
  const ported = new Numbering(1, includedPlan(), portedNumbers(1_000_000), brandFinder([]))

  return [
    figureOf('lookup in the included plan', numbers, number => plain.lookup(number)),
    figureOf('lookup beside 1,000,000 ported numbers', numbers, number => ported.lookup(number)),
    figureOf('Russian number classified', numbers, number => classify(ported, number)),
    figureOf('foreign number classified', foreign, number => classify(ported, number)),
  ]
}

const randomNumber = () => String(79_000_000_000 + Math.floor(Math.random() * 100 * CODE_SIZE))

function portedNumbers(count: number): Map<number, PortedNumbers> {
  const numbers = Array.from({ length: count }, () => Number(randomNumber()))
  const pack = (number: number) => packPorted(number, 1 + (number % 4))
  const byCode = Map.groupBy(numbers, codeOf)
  return new Map([...byCode].map(([code, some]) => [code, new PortedNumbers(Uint32Array.from(some, pack))]))
}

function figureOf(what: string, numbers: string[], ask: (number: string) => unknown): Figure {
  const rounds = Array.from({ length: ROUNDS }, () => nsPerCall(numbers, ask))
  return { what, value: median(rounds), unit: 'ns', target: { most: MOST_NS } }
}

function nsPerCall(numbers: string[], ask: (number: string) => unknown): number {
  const start = performance.now()
  for (const number of numbers) ask(number)
  return ((performance.now() - start) * 1e6) / numbers.length
}
