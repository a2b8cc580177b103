import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isConnectionLost, isDatabaseBusy } from '../../src/base/database-losses.ts'
import { IDLE_IN_TRANSACTION_MS, LOCK_MS } from '../../src/db/patience.ts'
import { connect } from '../../src/db/sql.ts'
import { LEASE_SECONDS } from '../../src/domain/lanes/lane.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { acceptSingles } from '../../src/domain/singles/singles.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aSingle } from '../../src/testing/factories.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const { anEngine } = useEngines(db)
const script = fileURLToPath(new URL('../../src/testing/locking-process.ts', import.meta.url))
const children = new Set<ChildProcess>()
let world: World

beforeAll(async () => {
  world = await aWorld(db.sql)
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})

/** A process that was frozen while it had locked the account of the company. */
async function aFrozenProcess(idleMs: number) {
  const child = spawn(process.execPath, [script, db.url, String(world.companyId), String(idleMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', piece => {
    said += piece
  })
  await eventually(() => expect(said).toContain('locked'))
  child.kill('SIGSTOP')
  return { said: () => said, wake: () => child.kill('SIGCONT') }
}

const acceptOne = (sql = db.sql) =>
  acceptSingles(sql, world.companyId, [aSingle(world.senders[0]!, { priority: 3, destination: '79163000377' })], {
    billingZone,
    now: new Date(),
  })

test('a company can send while a process that had locked its account is frozen', async () => {
  await aGateway(db.sql)
  const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(20))
  await start(db.sql, world, dispatchId)
  const frozen = await aFrozenProcess(500)
  await anEngine()
  expect(await acceptOne()).toMatchObject([{ kind: 'accepted' }])
  await completed(db.sql, world, dispatchId)
  frozen.wake()
  await eventually(() => expect(frozen.said()).toContain('goes on'))
  expect(frozen.said()).toContain('lost its transaction')
})

test('a wait for a lock ends with an error that counts as temporary', async () => {
  await aFrozenProcess(600_000)
  const impatient = connect(db.url, { max: 1, lockMs: 100 })
  const error = await acceptOne(impatient).catch(refusal => refusal)
  expect(error).toMatchObject({ code: '55P03' })
  expect([isDatabaseBusy(error), isConnectionLost(error)]).toEqual([true, false])
  expect(await impatient`select 1 as one`).toEqual([{ one: 1 }])
  await impatient.end({ timeout: 1 })
})

describe('time limits of transactions:', () => {
  test('a frozen process loses its locks before waiting transactions time out, and both happen before a lease ends', () => {
    expect(IDLE_IN_TRANSACTION_MS).toBeLessThan(LOCK_MS)
    expect(LOCK_MS).toBeLessThan(LEASE_SECONDS * 1000)
  })

  test('every connection has these limits', async () => {
    const pool = connect(db.url, { max: 1 })
    const [row] = await pool`
      select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock`
    await pool.end()
    expect(row).toEqual({ idle: `${IDLE_IN_TRANSACTION_MS / 1000}s`, lock: `${LOCK_MS / 1000}s` })
  })

  test('a COPY that has locked the account is limited, too, because a process frozen in a COPY is not idle', async () => {
    await db.sql`create table limits_seen (statement_timeout text)`
    await db.sql`
      create function see_limit() returns trigger language plpgsql as $$ begin
        insert into limits_seen values (current_setting('statement_timeout')); return new; end $$`
    await db.sql`create trigger see_limit before insert on messages for each row execute function see_limit()`
    await acceptOne()
    expect(await db.sql`select distinct statement_timeout as limit from limits_seen`).toEqual([{ limit: '5s' }])
  })

  test('accepting the recipients of a dispatch may pause longer between two statements', async () => {
    await db.sql`
      create or replace function see_limit() returns trigger language plpgsql as $$ begin
        insert into limits_seen values (current_setting('idle_in_transaction_session_timeout')); return new; end $$`
    await db.sql`truncate limits_seen`
    await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(2))
    expect(await db.sql`select distinct statement_timeout as limit from limits_seen`).toEqual([{ limit: '1min' }])
  })
})
