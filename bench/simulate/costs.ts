import { readFileSync } from 'node:fs'

/** Of one message: milliseconds of processor time in each part, bytes, transactions and synchronizations. */
export type Cost = {
  api: number
  engine: number
  database: number
  rows: number
  indexes: number
  wal: number
  commits: number
  syncs: number
}

export type Costs = { singles: Cost; dispatch: Cost }

const keys: (keyof Cost)[] = ['api', 'engine', 'database', 'rows', 'indexes', 'wal', 'commits', 'syncs']

/** The output of `npm run -s bench -- bytes --json`. */
export const COSTS_FILE = new URL('costs.json', import.meta.url)

export function readCosts(file: string | URL = COSTS_FILE): Costs {
  const { figures } = JSON.parse(readFileSync(file, 'utf8')) as { figures: { id?: string; value: number }[] }
  const figureOf = (id: string) => {
    const value = figures.find(figure => figure.id === id)?.value
    if (typeof value !== 'number') throw new Error(`The file of costs has no figure "${id}"`)
    return value
  }
  const costOf = (kind: string) => Object.fromEntries(keys.map(key => [key, figureOf(`${kind}.${key}`)])) as Cost
  return { singles: costOf('singles'), dispatch: costOf('dispatch') }
}

/** The cost of a message when this share of all messages are singles. */
export function mixOf({ singles, dispatch }: Costs, share: number): Cost {
  const mixed = keys.map(key => [key, singles[key] * share + dispatch[key] * (1 - share)])
  return Object.fromEntries(mixed) as Cost
}
