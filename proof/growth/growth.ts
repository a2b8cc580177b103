import { chosenOf, type Options } from '../command-line.ts'
import type { Outcome } from '../outcomes.ts'
import { companies } from './companies.ts'
import { dispatches } from './dispatches.ts'
import { history } from './history.ts'
import { lanes } from './lanes.ts'
import { compare } from './sides.ts'

const LARGEST = 1_000_000

/** Nothing that grows may slow the engine or take memory: each size is measured beside the smallest one, in turn. */
export async function proveGrowth({ only, largest = LARGEST }: Options): Promise<Outcome[]> {
  const axes = chosenOf([history(largest), companies, dispatches, lanes], only)
  const outcomes: Outcome[] = []
  for (const axis of axes) {
    console.log(`${new Date().toISOString().slice(11, 19)} ${axis.name}: ${axis.about}`)
    outcomes.push(...(await compare(axis)))
  }
  return outcomes
}
