import type { Key } from '../../words/dictionary.ts'
import type { PricingModel } from '../names.ts'
import type { Tariff } from '../tariffs.ts'

/** A tariff step as typed. */
export type TypedStep = { id: number; from: string; price: string; priceMauBatch: string }

export const typedStep = (from = '', price = '', priceMauBatch = '', id = 0): TypedStep => ({
  id,
  from,
  price,
  priceMauBatch,
})

/** An empty step with a new id. */
export const stepAfter = (steps: TypedStep[]): TypedStep => ({
  ...typedStep(),
  id: Math.max(...steps.map(({ id }) => id)) + 1,
})

export const typedSteps = ({ steps }: Pick<Tariff, 'steps'>): TypedStep[] =>
  steps.map(({ from, price, priceMauBatch }, place) =>
    typedStep(String(from), String(price), priceMauBatch === null ? '' : String(priceMauBatch), place),
  )

type ProblemKey = Extract<Key, `tariffs.problem.${string}`>
export type StepProblems = { from?: ProblemKey; price?: ProblemKey; priceMauBatch?: ProblemKey }

const COUNT = /^\d{1,15}$/
const AMOUNT = /^\d{1,7}([.,]\d{1,4})?$/
const PACKAGE = /^\d{1,10}([.,]\d{1,4})?$/

export const isPrice = (text: string) => AMOUNT.test(text.trim())

/** The mistakes of each step: counts must rise from 0 or 1, and amounts have at most four decimals. */
export function problemsOf(steps: TypedStep[], model: PricingModel): StepProblems[] {
  return steps.map((step, place) => ({
    ...fromProblem(step, steps[place - 1]),
    ...(isPrice(step.price) ? {} : { price: 'tariffs.problem.price' as const }),
    ...(model !== 'MAU' || step.priceMauBatch.trim() === '' || PACKAGE.test(step.priceMauBatch.trim())
      ? {}
      : { priceMauBatch: 'tariffs.problem.price' as const }),
  }))
}

function fromProblem(step: TypedStep, before: TypedStep | undefined): StepProblems {
  const from = step.from.trim()
  if (!COUNT.test(from)) return { from: 'tariffs.problem.count' }
  if (!before) return Number(from) > 1 ? { from: 'tariffs.problem.first' } : {}
  return Number(from) > Math.max(Number(before.from), 1) ? {} : { from: 'tariffs.problem.rising' }
}

const point = (text: string) => text.trim().replace(',', '.')

/** The steps in the format of the server. A fixed price has one step, and only MAU has packages. */
export const stepsToSend = (steps: TypedStep[], model: PricingModel) =>
  (model === 'FIXED' ? steps.slice(0, 1) : steps).map(({ from, price, priceMauBatch }) => ({
    from: from.trim(),
    price: point(price),
    priceMauBatch: model === 'MAU' && priceMauBatch.trim() !== '' ? point(priceMauBatch) : null,
  }))
