import { parseArgs } from 'node:util'

/** Options of all programs. Each program reads its own. */
export type Options = { only?: string; size?: number; largest?: number; minutes?: number }

export type Asked = { name: string; options: Options }

const NAMES = ['growth', 'soak', 'faults', 'all']

export const USAGE = `Usage: npm run proof -- growth [--only NAME,...] [--largest N]
       npm run proof -- soak [--minutes N]
       npm run proof -- faults [--only NAME,...] [--size N]
       npm run proof -- all

  growth  messages a second and memory with old messages, companies, running dispatches and lanes of a neighbour:
          none may slow the engine by more than a fifth (about 25 minutes)
  soak    mixed load: memory, connections, dead rows, deadlines and fairness, sampled each minute (30 minutes)
  faults  a load of dispatches, single messages, cascades and codes, and one fault in its middle: nothing is lost or billed
          twice, and no more is sent twice than docs/operations.md says (about 20 minutes)
  all     the three of them, one after the other

  --largest N    growth: the most old messages (1000000 unless given; 30000000 needs 40 GB of disk and some hours)
  --minutes N    soak: minutes after the warm-up (30 unless given, from 3 on)
  --only NAME,…  faults and growth: these parts; an unknown name prints all names
  --size N       faults: messages of the large dispatch (10000 unless given, from 100 on)

Each program ends in a table. Exit code 1: a promise is broken. Ctrl-C stops everything that was started.
docs/proof.md has the promises, and the table of the last run.`

/** The wish of the person, 'help', or an error with one sentence. */
export function readCommandLine(words: string[]): Asked | 'help' | Error {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        help: { type: 'boolean' },
        only: { type: 'string' },
        size: { type: 'string' },
        largest: { type: 'string' },
        minutes: { type: 'string' },
      },
    })
    if (values.help) return 'help'
    const [name] = positionals
    if (positionals.length !== 1 || name === undefined) return new Error('Name one program')
    if (!NAMES.includes(name)) return new Error(`There is no program "${name}"`)
    return { name, options: optionsOf(values) }
  } catch (error) {
    return error as Error
  }
}

type Given = { only?: string; size?: string; largest?: string; minutes?: string }

function optionsOf({ only, size, largest, minutes }: Given): Options {
  return {
    ...(only === undefined ? {} : { only }),
    ...(size === undefined ? {} : { size: wholeNumber('--size', size, 100, 1_000_000) }),
    ...(largest === undefined ? {} : { largest: wholeNumber('--largest', largest, 0, 1_000_000_000) }),
    ...(minutes === undefined ? {} : { minutes: wholeNumber('--minutes', minutes, 3, 10_000) }),
  }
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Error(`${option} takes a whole number from ${least} to ${most}`)
  return value
}

/** The parts of a program that --only names, or all of them. */
export function chosenOf<T extends { name: string }>(all: T[], only: string | undefined): T[] {
  if (only === undefined) return all
  const names = only.split(',')
  const unknown = names.find(name => !all.some(part => part.name === name))
  if (unknown === undefined) return all.filter(({ name }) => names.includes(name))
  throw new WrongName(`There is no part "${unknown}". All parts: ${all.map(({ name }) => name).join(', ')}`)
}

export class WrongName extends Error {}
