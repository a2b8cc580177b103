import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { Recorder } from '../../src/engine/recording/recorder.ts'
import { failOverdue } from '../../src/engine/timers/deadlines.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { fatesOf, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { nodeAway } from '../../src/testing/missing-node.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../src/testing/world.ts'

/** The database refuses every change of one message. All other messages must be processed when they are due. */

const db = useDatabase()
const { anEngine } = useEngines(db)
const log = pino({ level: 'silent' })
const HOUR_MS = 3600_000
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  await db.sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'never'; end $$`
  await db.sql`
    create trigger refuse before update on messages for each row when (old.text = 'Cursed') execute function refuse()`
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** Eight messages in four lanes, and the lane of the message that cannot be written. */
async function aCursedDispatch() {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
  await start(db.sql, world, dispatchId)
  await db.sql`update lanes set open = false where dispatch_id = ${dispatchId}`
  const [first] = await db.sql<{ uuid: string; laneId: number }[]>`
    select message_uuid as uuid, lane_id from messages where dispatch_id = ${dispatchId} order by lane_id, seq limit 1`
  await db.sql`update messages set text = 'Cursed' where message_uuid = ${first!.uuid}`
  return { dispatchId, cursed: first! }
}

describe('ranges whose lifetime is over', () => {
  /** All messages were sent 26 hours ago, and the deadline of each lane is over. */
  async function anOverdueDispatch() {
    const made = await aCursedDispatch()
    const { dispatchId } = made
    await db.sql`alter table messages disable trigger refuse`
    await db.sql`
      update messages set status = 'SENT', sent_at = now() - interval '26 hours' where dispatch_id = ${dispatchId}`
    await db.sql`alter table messages enable trigger refuse`
    // The deadline of the unwritable message is claimed first.
    await db.sql`
      insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
      select company_id, lane_id, 0, tail, now() - interval '1 hour' from lanes
      where dispatch_id = ${dispatchId} and tail > 0 order by lane_id`
    return made
  }

  const deadlines = () => db.sql<{ laneId: number; dueAt: Date; claimedUntil: string }[]>`
    select lane_id, due_at, claimed_until::text from deadlines where company_id = ${world.companyId}`

  const aRecorder = () => new Recorder({ sql: db.sql, clock: () => new Date(), billingZone, log })

  test('fail except for the message that cannot be written, whose range is tried again after an hour', async () => {
    const { dispatchId, cursed } = await anOverdueDispatch()
    const recorder = aRecorder()
    const now = new Date()
    await failOverdue({ sql: db.sql, clock: () => now, log, recorder })
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1, 'FAILED 7060': 7 })
    const dueAt = new Date(now.getTime() + HOUR_MS)
    expect(await deadlines()).toEqual([{ laneId: cursed.laneId, dueAt, claimedUntil: '-infinity' }])

    // When the database accepts the message again, it is written.
    await db.sql`alter table messages disable trigger refuse`
    await failOverdue({ sql: db.sql, clock: () => dueAt, log, recorder })
    await db.sql`alter table messages enable trigger refuse`
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 7060': 8 })
    expect(await deadlines()).toEqual([])
    await recorder.stop()
  })

  test('fail although one range has another error, and that range is taken again later', async () => {
    const { dispatchId, cursed } = await anOverdueDispatch()
    const recorder = aRecorder()
    const failing: Pick<Recorder, 'noteSoon'> = {
      noteSoon: async (companyId, statusReport) => {
        if (statusReport.uuid === cursed.uuid) throw new Error('given up')
        return recorder.noteSoon(companyId, statusReport)
      },
    }
    await failOverdue({ sql: db.sql, clock: () => new Date(), log, recorder: failing })
    await recorder.stop()
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1, 'FAILED 7060': 7 })
    const [left, ...others] = await deadlines()
    expect(others).toEqual([])
    expect(left!.laneId).toBe(cursed.laneId)
    expect(left!.dueAt.getTime()).toBeLessThan(Date.now())
  })

  test('are not read again and again while the database is away', async () => {
    await anOverdueDispatch()
    let notes = 0
    const away: Pick<Recorder, 'noteSoon'> = {
      noteSoon: async () => {
        notes += 1
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      },
    }
    const ending = failOverdue({ sql: db.sql, clock: () => new Date(), log, recorder: away })
    await expect(ending).rejects.toThrow('ECONNRESET')
    expect(notes).toBe(2) // the messages of the first range
  })

  test('are left out after the first one while the node of their company is away', async () => {
    await anOverdueDispatch()
    let notes = 0
    const away: Pick<Recorder, 'noteSoon'> = {
      noteSoon: async () => {
        notes += 1
        throw nodeAway()
      },
    }
    await failOverdue({ sql: db.sql, clock: () => new Date(), log, recorder: away })
    expect(notes).toBe(2) // the messages of the first range
  })
})

test('lanes whose end has come are ended, also the lane of a message that cannot be written', async () => {
  const { dispatchId } = await aCursedDispatch()
  await db.sql`update lanes set end_at = now() where dispatch_id = ${dispatchId}`
  await anEngine()
  await eventually(async () => {
    expect(await db.sql`select from lanes where dispatch_id = ${dispatchId} and end_at is not null`).toHaveLength(0)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 1, 'FAILED 453': 7 })
  })
})

test('leases of a dead engine are returned although deadlines cannot be read', async () => {
  const { dispatchId } = await aCursedDispatch()
  await db.sql`
    insert into deadlines (company_id, lane_id, first_seq, next_seq, due_at)
    select company_id, lane_id, 0, tail, now() - interval '1 hour' from lanes where dispatch_id = ${dispatchId}`
  await db.sql`
    insert into leases (company_id, lane_id, first_seq, next_seq, worker, token, claimed_until)
    select company_id, lane_id, 0, tail, ${randomUUID()}, ${randomUUID()}, now() - interval '1 minute' from lanes
    where dispatch_id = ${dispatchId} and tail > 0`
  await db.sql`create trigger refuse before update on deadlines for each row execute function refuse()`
  try {
    await anEngine()
    await eventually(async () => {
      const leases = await db.sql`select worker from leases where company_id = ${world.companyId}`
      expect(leases.map(({ worker }) => worker)).toEqual([null, null, null, null])
    })
  } finally {
    await db.sql`drop trigger refuse on deadlines`
  }
})
