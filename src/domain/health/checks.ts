import { statfs } from 'node:fs/promises'
import { newestVersion, versionOf } from '../../db/migrate.ts'
import type { Sql } from '../../db/sql.ts'
import { waitingPlaces } from '../overview/waiting.ts'
import type { Level, ProcessHealth } from './processes.ts'
import * as store from './store.ts'

type Facts = Record<string, string | number | null>
type Found = { level: Level; facts: Facts }
type Context = { sql: Sql; now: Date; dataFolder: string | undefined; processes: ProcessHealth[] | null }

/** In the order in which the page shows them. */
export const checkNames = [
  'engines',
  'waiting',
  'leases',
  'recorder',
  'receipts',
  'callbacks',
  'connections',
  'transaction',
  'months',
  'vacuum',
  'replication',
  'nodes',
  'database',
  'schema',
  'disk',
] as const

export type CheckName = (typeof checkNames)[number]
export type Check = Found & { name: CheckName }

const MIB = 1024 * 1024
const HOUR_S = 3600

export const UNKNOWN: Found = { level: 'unknown', facts: {} }

/** Bad where `bad` holds, worth a look where `look` does. */
const levelOf = (bad: boolean, look: boolean): Level => (bad ? 'bad' : look ? 'look' : 'ok')

/** A check that does not apply returns undefined. */
export const checks: Record<CheckName, (context: Context) => Promise<Found | undefined>> = {
  engines: async ({ processes }) => {
    if (!processes) return UNKNOWN
    const engines = processes.filter(({ kind }) => kind === 'engine')
    const atWork = engines.filter(({ problems }) => !problems.includes('gone')).length
    return { level: levelOf(atWork === 0, false), facts: { count: atWork } }
  },
  waiting: async ({ sql, now }) => {
    const places = await waitingPlaces(sql, { kind: 'STAFF' }, now)
    const oldest = Math.min(...places.map(({ since }) => since.getTime()))
    const seconds = places.length === 0 ? 0 : Math.round((now.getTime() - oldest) / 1000)
    const messages = places.reduce((sum, { waiting }) => sum + waiting, 0)
    return { level: levelOf(false, seconds > HOUR_S), facts: { messages, lanes: places.length, seconds } }
  },
  leases: async ({ sql }) => {
    const [row] = await store.countStranded(sql)
    return { level: levelOf(row!.count > 100, row!.count > 5), facts: row! }
  },
  recorder: async ({ processes }) => {
    if (!processes) return UNKNOWN
    const most = Math.max(0, ...processes.map(({ unrecorded }) => unrecorded ?? 0))
    return { level: levelOf(false, most > 5000), facts: { count: most } }
  },
  receipts: async ({ sql }) => {
    const [row] = await store.countKeptReceipts(sql)
    return { level: levelOf(false, row!.count >= 10_000), facts: row! }
  },
  callbacks: async ({ sql }) => {
    const [row] = await store.countCallbacks(sql)
    return { level: levelOf(false, row!.paused > 0 || row!.seconds > HOUR_S), facts: row! }
  },
  connections: async ({ sql }) => {
    const [row] = await store.selectConnections(sql)
    const share = row!.used / row!.most
    return { level: levelOf(share > 0.9, share > 0.7), facts: row! }
  },
  transaction: async ({ sql }) => {
    const [row] = await store.selectLongestTransaction(sql)
    const { seconds, program } = row ?? { seconds: 0, program: '' }
    return { level: levelOf(seconds > 1800, seconds > 120), facts: { seconds, program } }
  },
  months: async ({ sql }) => {
    const [row] = await store.selectMonths(sql)
    return { level: levelOf(!row!.hasNext, false), facts: { months: row!.months, newest: row!.newest } }
  },
  vacuum: async ({ sql }) => {
    const [row] = await store.selectVacuum(sql)
    const { isOn, age, table, dead, live } = row!
    const isBehind = dead > 1_000_000 && dead > live * 0.4
    const level = levelOf(age > 1_800_000_000, !isOn || isBehind || age > 1_000_000_000)
    return { level, facts: { isOn: isOn ? 1 : 0, table, dead, age } }
  },
  replication: async ({ sql }) => {
    const [row] = await store.selectReplication(sql)
    const { replicas, behindBytes } = row!
    if (replicas === 0) return undefined
    if (behindBytes === null) return UNKNOWN
    return { level: levelOf(false, behindBytes > 64 * MIB), facts: { replicas, behindBytes } }
  },
  nodes: async ({ sql }) => {
    if (!(await store.isCluster(sql))) return undefined
    const workers = await store.selectWorkers(sql)
    if (workers.length === 0) return undefined
    const shares = workers.map(({ used, most }) => (used ?? 0) / (most ?? 1))
    const share = Math.max(...shares)
    const fullest = workers[shares.indexOf(share)]!
    const away = workers.filter(({ isAway }) => isAway).length
    const sizeBytes = workers.reduce((sum, worker) => sum + (worker.sizeBytes ?? 0), 0)
    return {
      level: levelOf(away > 0 || share > 0.9, share > 0.7),
      facts: { count: workers.length, away, sizeBytes, used: fullest.used, most: fullest.most },
    }
  },
  database: async ({ sql }) => {
    const [row] = await store.selectDatabase(sql)
    return { level: 'ok', facts: row! }
  },
  schema: async ({ sql }) => {
    const [version, newest] = [await versionOf(sql), await newestVersion()]
    return { level: levelOf(false, version !== newest), facts: { version, newest } }
  },
  disk: async ({ dataFolder }) => {
    if (dataFolder === undefined) return undefined
    const { bavail, blocks, bsize } = await statfs(dataFolder)
    const [free, all] = [bavail * bsize, blocks * bsize]
    return { level: levelOf(free < 256 * MIB, free < 2048 * MIB), facts: { free, all } }
  },
}
