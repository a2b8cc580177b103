import { brandFinder } from '../src/domain/numbering/brand.ts'
import { codeOf, Numbering } from '../src/domain/numbering/lookup.ts'
import { classify } from '../src/domain/numbering/numbering.ts'
import { includedPlan } from '../src/domain/numbering/plan.ts'
import { PortedNumbers, packPorted } from '../src/domain/numbering/ported.ts'
import { CODE_SIZE } from '../src/domain/numbering/register.ts'

const ASKED = 100_000
const ROUNDS = 20

/** How long it takes to find the operator and region of a number: under a microsecond is promised. */
export async function run(): Promise<void> {
  const numbers = Array.from({ length: ASKED }, randomNumber)
  const foreign = numbers.map(number => `375${number.slice(2)}`)
  const plain = new Numbering(1, includedPlan(), new Map(), brandFinder([]))
  const ported = new Numbering(1, includedPlan(), portedNumbers(1_000_000), brandFinder([]))

  report('lookup, carried plan', numbers, number => plain.lookup(number))
  report('lookup, 1,000,000 ported numbers', numbers, number => ported.lookup(number))
  report('classify, Russian', numbers, number => classify(ported, number))
  report('classify, foreign', foreign, number => classify(ported, number))
}

const randomNumber = () => String(79_000_000_000 + Math.floor(Math.random() * 100 * CODE_SIZE))

function portedNumbers(count: number): Map<number, PortedNumbers> {
  const numbers = Array.from({ length: count }, () => Number(randomNumber()))
  const pack = (number: number) => packPorted(number, 1 + (number % 4))
  const byCode = Map.groupBy(numbers, codeOf)
  return new Map([...byCode].map(([code, some]) => [code, new PortedNumbers(Uint32Array.from(some, pack))]))
}

function report(what: string, numbers: string[], ask: (number: string) => unknown) {
  const rounds = Array.from({ length: ROUNDS }, () => nsPerCall(numbers, ask)).sort((a, b) => a - b)
  console.log(`${what}: ${rounds[ROUNDS / 2]!.toFixed(0)} ns`)
}

function nsPerCall(numbers: string[], ask: (number: string) => unknown): number {
  const start = performance.now()
  for (const number of numbers) ask(number)
  return ((performance.now() - start) * 1e6) / numbers.length
}
