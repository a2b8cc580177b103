import { readFile } from 'node:fs/promises'
import type { Pool } from '../src/db/sql.ts'
import type { Child } from './child.ts'

/** Seconds of processor time that processes have used so far. */
export type ProcessorTime = { service: number; database: number }

/** The kernel counts in these; the same on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100

/** Of a service and of its sessions at a server on the same machine. Undefined on systems without /proc. */
export async function processorTime(sql: Pool, { pid }: Child): Promise<ProcessorTime | undefined> {
  const sessions = await sql<{ pid: number }[]>`select pid from pg_stat_activity where application_name = 'tidings'`
  try {
    const [service, ...database] = await Promise.all([pid, ...sessions.map(session => session.pid)].map(secondsOf))
    return { service: service!, database: database.reduce((sum, seconds) => sum + seconds, 0) }
  } catch {
    return undefined
  }
}

/** User and system time: the 14th and 15th field. The second one, in brackets, may contain spaces. */
async function secondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
