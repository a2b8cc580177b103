import { type Options, readCommandLine, USAGE, WrongName } from './command-line.ts'
import { proveFaults } from './faults/faults.ts'
import { proveGrowth } from './growth/growth.ts'
import { exitCodeOf, type Outcome, report } from './outcomes.ts'
import { proveSoak } from './soak/soak.ts'

const programs: Record<string, (options: Options) => Promise<Outcome[]>> = {
  growth: proveGrowth,
  soak: proveSoak,
  faults: options => proveFaults(options),
}

/** Proves promises of the service with real processes. Exit code 1 when a promise is broken, 2 for a wrong command line. */
async function main(): Promise<number> {
  const asked = readCommandLine(process.argv.slice(2))
  if (asked === 'help') {
    console.log(USAGE)
    return 0
  }
  if (asked instanceof Error) {
    console.error(`${asked.message}.\n\n${USAGE}`)
    return 2
  }
  const chosen = Object.keys(programs).filter(name => asked.name === 'all' || name === asked.name)
  const outcomes: Outcome[] = []
  for (const name of chosen) {
    const found = await programs[name]!(asked.options)
    report(found)
    outcomes.push(...found)
  }
  return exitCodeOf(outcomes)
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof WrongName ? error.message : error)
  process.exitCode = error instanceof WrongName ? 2 : 1
}
