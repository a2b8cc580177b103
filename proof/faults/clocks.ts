import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanups } from '../../bench/stage.ts'
import { countRunningEngines } from '../../src/domain/engines/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { hasPostgres, PostgresCluster } from '../../src/testing/postgres-cluster.ts'
import type { Env } from '../../src/testing/processes.ts'
import type { Installation, Installing } from '../installation/installation.ts'
import type { Load } from '../installation/load.ts'
import type { Fault } from './fault.ts'

const HOUR_SECONDS = 3600
const WRONG_MS = 10_000
/** From the start of the database until the special moment: the load has begun by then. */
const LEAD_MS = 45_000
/** A dispatch starts so long before the special moment, and the load goes on so long after it. */
const AROUND_MS = 4000
const ACROSS = 5000

const library = findLibrary()

const noLibrary = () => (library ? undefined : 'libfaketime is not installed')
const noLibraryOrServer = () => noLibrary() ?? (hasPostgres ? undefined : "Debian's postgresql is not installed")

/** Wrong clocks, and special moments under load. */
export const clockFaults: Fault[] = [
  wrongClock('clock-ahead', 26),
  wrongClock('clock-behind', -26),
  crossing('month-end', 'the month ends, UTC and in the zone of the bills', nextMonth(), 'UTC'),
  crossing(
    'summer-time',
    'clocks go forward in the zone of the bills',
    new Date('2027-03-28T01:00:00Z'),
    'Europe/Berlin',
  ),
  crossing('winter-time', 'clocks go back in the zone of the bills', new Date('2027-10-31T01:00:00Z'), 'Europe/Berlin'),
]

/** All processes of the service have a wrong clock. The clock of the database is right. */
function wrongClock(name: string, hours: number): Fault {
  return {
    name,
    about: `the clock of all processes is ${Math.abs(hours)} hours ${hours > 0 ? 'ahead of' : 'behind'} the database`,
    mostTwice: 0,
    unavailable: noLibrary,
    install: async () => ({ env: clockOff(hours * HOUR_SECONDS) }),
    strike: async ({ sql }) => {
      await pause(WRONG_MS)
      const { clockOffMs } = await countRunningEngines(sql)
      if (Math.round(clockOffMs / 1000 / HOUR_SECONDS) !== hours) throw new Error('the engines have another clock')
    },
  }
}

/** The database and all processes come to a moment together, in the middle of a dispatch. */
function crossing(name: string, about: string, moment: Date, zone: string): Fault {
  return {
    name,
    about: `${about} (${zone}, ${moment.toISOString()})`,
    mostTwice: 0,
    unavailable: noLibraryOrServer,
    install: cleanups => installBefore(cleanups, moment, zone),
    strike: (installation, load) => cross(installation, load, moment),
  }
}

async function installBefore(cleanups: Cleanups, moment: Date, zone: string): Promise<Installing> {
  const offSeconds = Math.round((moment.getTime() - LEAD_MS - Date.now()) / 1000)
  const cluster = await PostgresCluster.startPrimary(clockOff(offSeconds))
  cleanups.push(() => cluster.stop())
  return { databaseUrl: cluster.a.url(), env: { ...clockOff(offSeconds), TIDINGS_BILLING_ZONE: zone } }
}

async function cross(installation: Installation, load: Load, moment: Date) {
  const left = await millisecondsUntil(installation, moment)
  if (left < AROUND_MS) throw new Error('the load began too late: the moment is over')
  await pause(left - AROUND_MS)
  await load.startDispatch(installation.companies[0]!, ACROSS)
  await eventually(async () => {
    if ((await millisecondsUntil(installation, moment)) > -AROUND_MS) throw new Error('the moment is not over')
  })
  await expectSentAround(installation, moment)
}

/** Otherwise the proof would prove nothing. */
async function expectSentAround({ sql }: Installation, moment: Date) {
  const rows = await sql`select distinct sent_at >= ${moment} as is_after from messages where sent_at is not null`
  if (rows.length !== 2) throw new Error('messages were not sent on both sides of the moment')
}

async function millisecondsUntil({ sql }: Installation, moment: Date): Promise<number> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  return moment.getTime() - row!.now.getTime()
}

/** Timers and time-outs use the monotonic clock, which stays right. */
const clockOff = (seconds: number): Env => ({
  LD_PRELOAD: library!,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DONT_RESET: '1',
})

/** Debian's package has it in the folder of the architecture. */
function findLibrary(): string | undefined {
  const root = '/usr/lib'
  const folders = existsSync(root) ? readdirSync(root) : []
  return folders.map(folder => join(root, folder, 'faketime', 'libfaketimeMT.so.1')).find(path => existsSync(path))
}

function nextMonth(): Date {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
}
