import { userInfo } from 'node:os'
import { asPool } from '../db/nested.ts'
import type { Pool } from '../db/sql.ts'
import { recordChange } from '../domain/audit-log/audit-log.ts'
import type { Actor, Change } from '../domain/audit-log/entry.ts'

/** Undefined: it turned out that nothing changes. */
export type Record = (change: Change | undefined) => Promise<void>

/** Runs what a command changes and writes it into the audit log, in one transaction. */
export async function recorded<T>(sql: Pool, work: (sql: Pool, record: Record) => Promise<T>): Promise<T> {
  return sql.begin(async tx => {
    let isRecorded = false
    const result = await work(asPool(tx), async change => {
      isRecorded = true
      if (change) await recordChange(tx, operator(), change)
    })
    if (!isRecorded) throw new Error('the command recorded no change')
    return result
  })
}

/** The system user at the command line; with sudo, the user that called it. */
function operator(): Actor {
  const { SUDO_USER } = process.env
  const user = systemUser()
  return { kind: 'OPERATOR', name: SUDO_USER && SUDO_USER !== user ? `${SUDO_USER} as ${user}` : user }
}

/** In a container the user may have a number and no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
