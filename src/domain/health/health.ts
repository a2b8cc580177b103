import type { Pool } from '../../db/sql.ts'
import { type Check, checkNames, checks, UNKNOWN } from './checks.ts'
import { type ProcessHealth, processesIn } from './processes.ts'
import * as store from './store.ts'

export type HealthReport = {
  /** Null if they could not be read in time. */
  processes: ProcessHealth[] | null
  checks: Check[]
}

type Context = { sql: Pool; now: Date; dataFolder: string | undefined }

/** A check that takes longer is ended, and its result is unknown. */
const TIMEOUT_MS = 2000
/** The most checks at once. The rest of the pool is left to other work. */
const AT_ONCE = 3

/** The health of the whole service. Each part is read separately: a part that does not answer is unknown. */
export async function healthOf({ sql, now, dataFolder }: Context): Promise<HealthReport> {
  const processes = await bounded(sql, processesIn).catch(() => null)
  const waiting = [...checkNames]
  const done: Check[] = []
  const work = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const check = checks[name]
      const found = await bounded(sql, tx => check({ sql: tx, now, dataFolder, processes })).catch(() => UNKNOWN)
      if (found) done.push({ name, ...found })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { processes, checks: done.sort((a, b) => checkNames.indexOf(a.name) - checkNames.indexOf(b.name)) }
}

/** PostgreSQL ends a statement that takes too long. A server that cannot be reached is not waited for either. */
async function bounded<T>(pool: Pool, work: (sql: Parameters<typeof processesIn>[0]) => Promise<T>): Promise<T> {
  const asked = pool.begin('read only', async sql => {
    await store.limitTime(sql, TIMEOUT_MS)
    return work(sql)
  })
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer in time')), TIMEOUT_MS * 2)
  asked.catch(() => {})
  try {
    return await Promise.race([asked, over])
  } finally {
    clearTimeout(timer)
  }
}

/** How many standbys receive the WAL of the primary. Undefined if it could not be read in time. */
export const countStandbys = (sql: Pool): Promise<number | undefined> =>
  bounded(sql, store.countStandbys).then(
    ([row]) => row!.count,
    () => undefined,
  )
