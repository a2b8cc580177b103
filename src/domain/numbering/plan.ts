import { readFileSync } from 'node:fs'
import type { Operator } from './brand.ts'
import { CODE_SIZE, numberOf, type PlanRange } from './register.ts'

/** Subscribers of one block of the carried plan: a code has 200. */
export const BLOCK_SIZE = 50_000

let carried: PlanRange[] | undefined

/** The plan that the project carries, for the codes of which no register was imported. */
export function includedPlan(): PlanRange[] {
  carried ??= readPlan(readFileSync(new URL('plan.csv', import.meta.url), 'utf8'))
  return carried
}

/**
 * Lines `operator;key;INN;name`, then a line a code: `code;item;item...`, where an item `block key region` names the
 * operator of the numbers from that block up to the next item. A bare `block` has no operator. # is a comment.
 */
export function readPlan(text: string): PlanRange[] {
  const rows = text.split('\n').map(line => line.split(';'))
  const operators = new Map(rows.filter(isOperator).map(([, key, inn, name]) => [key!, { inn: inn!, name: name! }]))
  return rows.filter(isCode).flatMap(([code, ...items]) => rangesOf(code!, items, operators))
}

const isOperator = (row: string[]) => row[0] === 'operator'
const isCode = (row: string[]) => /^\d+$/.test(row[0]!)

function rangesOf(code: string, items: string[], operators: Map<string, Operator>): PlanRange[] {
  const fields = items.map(item => item.split(' ') as [string, string?, string?])
  return fields.flatMap(([block, key, region], i) => {
    const end = fields[i + 1]?.[0] ?? CODE_SIZE / BLOCK_SIZE
    const first = numberOf(code, Number(block) * BLOCK_SIZE)
    const last = numberOf(code, Number(end) * BLOCK_SIZE - 1)
    return key && region ? [{ first, last, operator: operators.get(key)!, region }] : []
  })
}
