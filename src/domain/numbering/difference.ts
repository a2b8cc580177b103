import type { Operator } from './brand.ts'
import type { PlanRange } from './register.ts'

/** `changed`: the same operator, with another name or region. */
export const changeKinds = ['added', 'removed', 'moved', 'changed'] as const
export type ChangeKind = (typeof changeKinds)[number]

type Holder = Pick<PlanRange, 'operator' | 'region'>

/** Consecutive numbers to which the same happens. */
export type RangeChange = {
  kind: ChangeKind
  first: number
  last: number
  before: Holder | null
  after: Holder | null
}

/**
 * What becomes of numbers when some ranges take the place of others. Ranges that are only cut or joined change nothing.
 * Both lists are in order and without overlaps.
 */
export function compareRanges(before: readonly PlanRange[], after: readonly PlanRange[]): RangeChange[] {
  const changes: RangeChange[] = []
  const [was, is] = [new Cursor(before), new Cursor(after)]
  const cuts = cutsOf([...before, ...after])
  for (const [index, first] of cuts.entries()) {
    const change = changeOf(first, (cuts[index + 1] ?? first + 1) - 1, was.at(first), is.at(first))
    if (change) join(changes, change)
  }
  return changes
}

/** Where a range begins, or the first number behind one. */
const cutsOf = (ranges: readonly PlanRange[]) =>
  [...new Set(ranges.flatMap(({ first, last }) => [first, last + 1]))].sort((a, b) => a - b)

/** Finds the range of a number; the numbers asked for rise. */
class Cursor {
  readonly #ranges: readonly PlanRange[]
  #index = 0

  constructor(ranges: readonly PlanRange[]) {
    this.#ranges = ranges
  }

  at(number: number): Holder | null {
    while (this.#index < this.#ranges.length && this.#ranges[this.#index]!.last < number) this.#index += 1
    const range = this.#ranges[this.#index]
    return range && range.first <= number ? { operator: range.operator, region: range.region } : null
  }
}

function changeOf(first: number, last: number, before: Holder | null, after: Holder | null): RangeChange | undefined {
  const kind = kindOf(before, after)
  return kind && { kind, first, last, before, after }
}

function kindOf(before: Holder | null, after: Holder | null): ChangeKind | undefined {
  if (!before && !after) return undefined
  if (!before) return 'added'
  if (!after) return 'removed'
  if (keyOf(before.operator) !== keyOf(after.operator)) return 'moved'
  return isSame(before, after) ? undefined : 'changed'
}

/** The taxpayer number stays when the name changes; some operators have none. */
const keyOf = ({ inn, name }: Operator) => inn || name

const isSame = (a: Holder | null, b: Holder | null) =>
  a?.operator.inn === b?.operator.inn && a?.operator.name === b?.operator.name && a?.region === b?.region

function join(changes: RangeChange[], change: RangeChange) {
  const previous = changes.at(-1)
  const continues =
    previous?.kind === change.kind &&
    previous.last + 1 === change.first &&
    isSame(previous.before, change.before) &&
    isSame(previous.after, change.after)
  if (continues) previous.last = change.last
  else changes.push(change)
}
