import { setTimeout as pause } from 'node:timers/promises'
import { withCleanups } from '../../bench/stage.ts'
import { chosenOf, type Options } from '../command-line.ts'
import { Installation, type Installing } from '../installation/installation.ts'
import { Load } from '../installation/load.ts'
import type { Outcome } from '../outcomes.ts'
import { clockFaults } from './clocks.ts'
import { databaseFaults } from './databases.ts'
import { figuresOf, look } from './facts.ts'
import type { Fault } from './fault.ts'
import { machineFaults } from './machine.ts'
import { operatorFaults } from './operators.ts'
import { processFaults } from './processes.ts'

const faults: Fault[] = [...processFaults, ...databaseFaults, ...operatorFaults, ...clockFaults, ...machineFaults]

/** The load goes on for a while after the fault. */
const MORE_LOAD_MS = 3000
const SIZE = 10_000
/** docs/standby.md and docs/operations.md promise ten seconds. A busy machine takes longer. */
const MOST_RECOVERY_SECONDS = 30

/** Each fault on an installation of its own, one after the other. `given` is for faults that do not prepare their own. */
export async function proveFaults({ only, size = SIZE }: Options, given: Installing = {}): Promise<Outcome[]> {
  const chosen = chosenOf(faults, only)
  const outcomes: Outcome[] = []
  for (const fault of chosen) {
    console.log(`${new Date().toISOString().slice(11, 19)} ${fault.name}: ${fault.about}`)
    outcomes.push(await prove(fault, size, given))
  }
  return outcomes
}

async function prove(fault: Fault, size: number, given: Installing): Promise<Outcome> {
  const { name } = fault
  const reason = fault.unavailable?.()
  if (reason !== undefined) return { name, figures: [], skipped: reason }
  try {
    return {
      name,
      figures: await withCleanups(async cleanups => {
        const installation = await Installation.start(cleanups, (await fault.install?.(cleanups)) ?? given)
        return strike(fault, installation, size)
      }),
    }
  } catch (error) {
    console.error(error)
    return { name, figures: [], failed: (error as Error).message.split('\n')[0]! }
  }
}

async function strike(fault: Fault, installation: Installation, size: number) {
  const load = new Load(installation, size)
  await load.start()
  await fault.strike(installation, load)
  const overAt = performance.now()
  await load.probe()
  const recoverSeconds = (performance.now() - overAt) / 1000
  await pause(MORE_LOAD_MS)
  await load.stop()
  const seen = await look(installation, load, { recoverSeconds, overAt })
  const { mostTwice } = fault
  const twice = typeof mostTwice === 'number' ? mostTwice : await mostTwice(installation)
  return figuresOf(seen, { twice, recoverSeconds: MOST_RECOVERY_SECONDS })
}
