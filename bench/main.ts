import { parseArgs } from 'node:util'
import { authorize, authorizeSmpp } from './authorize.ts'
import * as bytes from './bytes.ts'
import * as cabinet from './cabinet.ts'
import * as cabinetUpload from './cabinet-upload.ts'
import * as callbacks from './callbacks.ts'
import * as citus from './citus.ts'
import * as commandStart from './command-start.ts'
import * as cores from './cores.ts'
import * as depth from './depth.ts'
import * as engine from './engine.ts'
import * as engineHistory from './engine-history.ts'
import { type Bench, type Figure, isMet, type Options, printTable } from './figures.ts'
import * as ingest from './ingest.ts'
import * as latency from './latency.ts'
import * as libraries from './libraries.ts'
import * as manyLanes from './many-lanes.ts'
import * as message from './message.ts'
import * as messageRead from './message-read.ts'
import * as numbering from './numbering.ts'
import * as overview from './overview.ts'
import * as peers from './peers/peers.ts'
import * as read from './read.ts'
import { ABOUT, type AllOptions, measureAll } from './report/all.ts'
import { smpp, smppMemory } from './smpp.ts'
import * as smppCodec from './smpp-codec.ts'
import * as statistics from './statistics.ts'
import * as templates from './templates.ts'
import * as text from './text.ts'
import * as verifier from './verifier.ts'

/**
 * Speed is promised as ratios measured in one run, so that a slow machine does not fail and a fast one does not hide
 * a loss. Exit code 1 when a target is missed.
 */
const benches: Bench[] = [
  peers,
  cores,
  citus,
  bytes,
  engine,
  engineHistory,
  manyLanes,
  statistics,
  latency,
  authorize,
  authorizeSmpp,
  callbacks,
  ingest,
  read,
  depth,
  message,
  messageRead,
  verifier,
  smppCodec,
  smpp,
  smppMemory,
  cabinet,
  overview,
  cabinetUpload,
  commandStart,
  templates,
  libraries,
  text,
  numbering,
]

const USAGE = `Usage: npm run bench -- NAME [--json] [--history N] [--dispatch N] [--only PART] [--rounds N]
       npm run bench -- all [--only NAME,...] [--rounds N] [--full] [--continue] [--page]

${[{ name: 'all', about: ABOUT }, ...benches].map(({ name, about }) => `  ${name.padEnd(15)} ${about}`).join('\n')}

Figures with a target say whether it is met; exit code 1 when one is missed. --json prints them as JSON.

all takes about half an hour and keeps each result in bench/results/all.json.
  --only NAME,...  measures these benches
  --rounds N       measures peers, cores, citus and statistics in N rounds
  --full           with smpp-memory and citus, and with the long histories of engine-history, message-read and overview
  --continue       keeps the results so far, and measures the benches that have none; with --only it measures these again
  --page           measures nothing, and writes the page from the results so far`

async function main(): Promise<number> {
  const asked = readArguments()
  if (asked instanceof Error) return refuse(asked.message)
  const { values, positionals } = asked
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  if (positionals.length !== 1) return refuse('Name one bench')
  if (positionals[0] === 'all') return runAll(values)
  if (values.full || values.continue || values.page) return refuse('--full, --continue and --page belong to "all"')
  const bench = benches.find(({ name }) => name === positionals[0])
  if (!bench) return refuse(`There is no bench "${positionals[0]}"`)
  const options = optionsOf(values)
  if (options instanceof Error) return refuse(options.message)
  return values.json ? runAsJson(bench, options) : runAsTable(bench, options)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean' },
        json: { type: 'boolean' },
        history: { type: 'string' },
        dispatch: { type: 'string' },
        only: { type: 'string' },
        rounds: { type: 'string' },
        full: { type: 'boolean' },
        continue: { type: 'boolean' },
        page: { type: 'boolean' },
      },
    })
  } catch (error) {
    return error as Error
  }
}

function optionsOf(given: { history?: string; dispatch?: string; only?: string; rounds?: string }): Options | Error {
  const options: Options = given.only === undefined ? {} : { only: given.only }
  for (const name of ['history', 'dispatch'] as const) {
    const value = given[name]
    if (value === undefined) continue
    if (!/^[1-9]\d{3,}$/.test(value)) return new Error(`--${name} takes a number from 1000 on`)
    options[name] = Number(value)
  }
  if (given.rounds === undefined) return options
  if (!/^[1-9]\d?$/.test(given.rounds)) return new Error('--rounds takes a number from 1 to 99')
  return { ...options, rounds: Number(given.rounds) }
}

type Values = { history?: string; dispatch?: string; json?: boolean; only?: string; rounds?: string } & {
  full?: boolean
  continue?: boolean
  page?: boolean
}

async function runAll(values: Values): Promise<number> {
  if (values.json || values.history || values.dispatch) return refuse('all takes no --json, --history and --dispatch')
  const options = optionsOf(values)
  if (options instanceof Error) return refuse(options.message)
  const asked: AllOptions = { isFull: values.full, isContinued: values.continue, isPageOnly: values.page }
  return measureAll(benches, { ...asked, only: options.only, rounds: options.rounds })
}

function refuse(reason: string): number {
  console.error(`${reason}.\n\n${USAGE}`)
  return 1
}

async function runAsTable(bench: Bench, options: Options): Promise<number> {
  const figures = await bench.run(options)
  printTable(figures)
  return exitCodeOf(figures)
}

async function runAsJson(bench: Bench, options: Options): Promise<number> {
  const figures = await bench.run(options).catch(reportFailure)
  const judged = figures.map(figure => ({ ...figure, ...(figure.target ? { met: isMet(figure) } : {}) }))
  console.log(JSON.stringify({ bench: bench.name, figures: judged }, null, 2))
  return exitCodeOf(figures)
}

/** Another program reads why there are no figures. A person sees the stack, too. */
function reportFailure(error: unknown): never {
  console.log(JSON.stringify({ failed: error instanceof Error ? firstLine(error.message) : String(error) }))
  throw error
}

const firstLine = (text: string) => text.split('\n')[0]

const exitCodeOf = (figures: Figure[]) => (figures.every(isMet) ? 0 : 1)

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
