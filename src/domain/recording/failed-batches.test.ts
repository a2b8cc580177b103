import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { fatesOf } from '../../testing/engines.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../testing/world.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import type { StatusReport } from '../receipts/status-report.ts'
import { recordStatusReports } from './recording.ts'

const db = useDatabase()
const at = new Date()
const MESSAGES = 1000
const BUSY_MS = 15
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

async function startedMessages() {
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(MESSAGES))
  await start(db.sql, world, dispatchId)
  const rows = await db.sql<{ uuid: string }[]>`
    select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by message_uuid`
  return { companyId: world.companyId, dispatchId, uuids: rows.map(({ uuid }) => uuid) }
}

/** The event loop is busy all the time, so that the statements of a batch fail and are prepared at different times. */
async function whileBusy(work: () => Promise<unknown>) {
  const timer = setInterval(() => {
    const until = performance.now() + BUSY_MS
    while (performance.now() < until);
  }, 1)
  await work().finally(() => clearInterval(timer))
}

const bad: [string, (uuid: string) => StatusReport][] = [
  ['an error code', uuid => ({ uuid, refused: { at, errorCode: 5e9 } })],
  ['a date', uuid => ({ uuid, refused: { at: new Date(Number.NaN), errorCode: 601 } })],
  ['a uuid', () => ({ uuid: 'nonsense', refused: { at, errorCode: 601 } })],
  ['a gateway', uuid => ({ uuid, sentAt: at, ids: { gatewayId: 1e30, providerIds: ['a'] } })],
]

test.each(bad)(
  'a batch that fails because of %s changes no message, and the others are charged later',
  async (_, of) => {
    const { companyId, dispatchId, uuids } = await startedMessages()
    const reports = uuids.slice(1).map(uuid => ({ uuid, sentAt: at, final: { status: 'DELIVERED' as const, at } }))
    const record = (some: StatusReport[]) =>
      recordStatusReports(db.sql, companyId, some, { billingZone, now: new Date() })

    await whileBusy(() => expect(record([...reports, of(uuids[0]!)])).rejects.toThrow())
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: MESSAGES })

    await record(reports)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 1, DELIVERED: MESSAGES - 1 })
    const [charged] =
      await db.sql`select sum(messages)::int as messages from ledger_entries where company_id = ${companyId}`
    expect(charged).toEqual({ messages: MESSAGES - 1 })
  },
)
