import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Figure } from '../figures.ts'
import { hardwareOf, type Machine } from './machine.ts'
import type { Entry } from './plan.ts'

/** The result of one entry of the plan: its figures, or the reason why it has none. */
export type Measured = {
  key: string
  command: string
  begunAt: string
  seconds: number
  /** The version of Tidings, with its commit. */
  version: string
  /** The share of all cores that other programs used just before. */
  busyBefore: number
  figures: Figure[]
  failed?: string
}

/** A run that was continued has several commands. */
export type Results = { begunAt: string; commands: string[]; machine: Machine; measured: Measured[] }

export const RESULTS_FILE = fileURLToPath(new URL('../results/all.json', import.meta.url))

export async function readResults(file: string): Promise<Results | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The file is complete at every moment: a run that is broken off leaves the results so far. */
export async function writeResults(file: string, results: Results) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, JSON.stringify(results, null, 2))
  await rename(`${file}.new`, file)
}

/** The results so far, if they were measured on this machine. */
export function continued(before: Results | undefined, command: string, machine: Machine): Results | Error {
  if (!before) return new Error('There are no results to continue: leave out --continue')
  const isSame = JSON.stringify(hardwareOf(before.machine)) === JSON.stringify(hardwareOf(machine))
  if (!isSame) return new Error('The results so far were measured on another machine: leave out --continue')
  return { ...before, commands: [...before.commands, command] }
}

/** In the order of the plan, for a run that was continued measures in another order. */
export function inOrder(plan: Entry[], results: Results): Results {
  return { ...results, measured: plan.flatMap(({ key }) => results.measured.filter(one => one.key === key)) }
}

export const withMeasured = (results: Results, measured: Measured): Results => ({
  ...results,
  measured: [...results.measured.filter(({ key }) => key !== measured.key), measured],
})
