import { randomBytes, randomUUID } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { money } from '../base/money.ts'
import { uuid7Batch } from '../base/uuid7.ts'
import { verifyLedger } from '../domain/audit/verify.ts'
import { storeSimulated } from '../domain/gateways/store.ts'
import { topUp } from '../domain/ledger/ledger.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { useDatabase } from '../testing/database.ts'
import { numberOf } from '../testing/factories.ts'
import { databaseUrl } from '../testing/global-setup.ts'
import { isCluster } from '../testing/one-server.ts'
import { aWidget } from '../testing/widget.ts'
import { aDispatch, aWorld, billingZone, start } from '../testing/world.ts'
import { migrate, newestVersion, versionOf } from './migrate.ts'
import { connect, type Pool } from './sql.ts'
import { exportDatabase, importDatabase } from './transfer.ts'

const SECRET = 'a secret of the tests, 32 characters long'
const db = useDatabase()
const empty: { name: string; sql: Pool }[] = []
let file: Buffer

async function anEmptyDatabase(): Promise<Pool> {
  const name = `transfer_${randomBytes(6).toString('hex')}`
  await onServer(admin => admin`create database ${admin(name)}`)
  const sql = connect(databaseUrl(inject('serverUrl'), name), { max: 3 })
  empty.push({ name, sql })
  return sql
}

beforeAll(async () => {
  const { sql } = db
  const world = await aWorld(sql)
  await topUp(
    sql,
    world.companyId,
    { amount: money('1000'), note: 'Tab\there, \\N, line\nbreak, "quotes", Весна ✓' },
    { billingZone, now: new Date() },
  )
  const recipients = Object.values(numberOf).map(destination => ({ destination }))
  const dispatchId = await aDispatch(sql, await loadNumbering(sql), world, recipients)
  await start(sql, world, dispatchId, new Date())
  await sql`select ensure_message_month('2020-02-01'), ensure_message_month('2020-03-01')`
  await sql`
    insert into messages (company_id, message_uuid, price, final_price, status, parts, brand_id, destination)
    select ${world.companyId}, uuid7_floor(at::timestamptz), 0, 0, 'FAILED', 0, 0, 'no number'
    from unnest(array['2020-02-10', '2020-03-10']) at`
  await sql`alter table messages detach partition messages_2020_02`
  await ofWidgets(sql, world.companyId)
  file = await exported(sql)
})

/** The data of verification: hashes in arrays, codes that are not sent yet, encrypted secrets. */
async function ofWidgets(sql: Pool, companyId: number) {
  const widgetId = await aWidget(sql, companyId)
  await sql`update verifiers set captcha_secret = '\\x00ff5c' where verifier_id = ${widgetId}`
  await sql`
    insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
      code_hashes, code_ends, tries_left, sent_at)
    values (${companyId}, ${randomUUID()}, ${widgetId}, '79160000001', 'RU', '7916000', 'SMS',
      array['\\x00'::bytea, '\\x5c22'], array[now(), '-infinity'], 3, now())`
  await sql`
    insert into widget_sessions (company_id, key_hash, secret_hash, widget_id, destination, client_address, network,
      origin, channel_type, ends_at)
    values (${companyId}, '\\x01', '\\x02', ${widgetId}, '79160000001', '::1', '::/64', 'https://shop.example', 'SMS', now())`
  await sql`insert into captcha_uses (company_id, use_hash, expires_at) values (${companyId}, '\\x03', now())`
  await sql`
    insert into widget_errors (company_id, widget_id, code, reason) values (${companyId}, ${widgetId}, 310, 'Tab\\t, \\N')`
}

afterAll(async () => {
  for (const { name, sql } of empty) {
    await sql.end({ timeout: 1 })
    await onServer(admin => admin`drop database if exists ${admin(name)} with (force)`)
  }
})

async function exported(sql: Pool): Promise<Buffer> {
  const to = new PassThrough()
  const [bytes] = await Promise.all([buffer(to), exportDatabase(sql, SECRET, to)])
  return bytes
}

const into = (sql: Pool, bytes: Buffer, secret = SECRET) => importDatabase(sql, secret, Readable.from([bytes]))

/** The content of every table, in any order of its rows, and the value of every sequence. */
async function contentsOf(sql: Pool): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not in ('schema_migrations')
    order by relname`
  const contents: Record<string, unknown> = {}
  for (const { name } of tables) {
    const [row] = await sql`
      select count(*), md5(string_agg(t::text, '|' order by t::text collate "C")) as digest from ${sql(name)} t`
    contents[name] = row
  }
  const sequences = await sql`
    select sequencename as name, last_value as value from pg_sequences where schemaname = 'public' order by 1`
  return { ...contents, sequences: [...sequences] }
}

const columnsOf = (sql: Pool, table: string) => sql`
  select attname, format_type(atttypid, atttypmod), attnotnull from pg_attribute
  where attrelid = ${table}::regclass and attnum > 0 order by attnum`

describe('a database that was exported and imported', () => {
  let copy: Pool

  beforeAll(async () => {
    copy = await anEmptyDatabase()
    const done = await into(copy, file)
    expect(done.rows).toBeGreaterThan(100)
  })

  test('has the same rows in every table, and its sequences continue', async () => {
    const [before, after] = [await contentsOf(db.sql), await contentsOf(copy)]
    expect(after).toEqual(before)
    expect(before).toMatchObject({ messages: { count: numbersInAll() + 1 }, messages_2020_02: { count: 1 } })
    for (const table of ['verifications', 'widget_sessions', 'captcha_uses', 'widget_errors'])
      expect(before[table]).toMatchObject({ count: 1 })
  })

  const numbersInAll = () => Object.keys(numberOf).length

  test('has a correct ledger', async () => {
    expect(await verifyLedger(copy, {})).toEqual([])
    expect(await verifyLedger(db.sql, {})).toEqual([])
  })

  test('has the same attached and detached months, with free space on their pages', async () => {
    const [march] = await copy`
      select relispartition, reloptions from pg_class where relname = 'messages_2020_03'`
    expect(march).toEqual({ relispartition: true, reloptions: ['fillfactor=50'] })
    expect([...(await columnsOf(copy, 'messages_2020_02'))]).toEqual([...(await columnsOf(db.sql, 'messages_2020_02'))])
  })

  test('has the newest schema and refuses a second import', async () => {
    expect(await versionOf(copy)).toBe(await newestVersion())
    await expect(into(copy, file)).rejects.toThrow('The database already has Tidings data')
  })
})

describe.skipIf(!isCluster)('an empty sharded database', () => {
  const sharded = useDatabase()

  test('takes an import, also with detached months', async () => {
    await into(sharded.sql, file)
    expect(await contentsOf(sharded.sql)).toEqual(await contentsOf(db.sql))
    expect(await verifyLedger(sharded.sql, {})).toEqual([])
  })
})

describe('a file that does not fit', () => {
  let target: Pool

  beforeAll(async () => {
    target = await anEmptyDatabase()
  })

  const refusal = (bytes: Buffer, secret?: string) =>
    into(target, bytes, secret).then(
      () => undefined,
      error => error,
    )
  const isDamaged = expect.objectContaining({
    message: 'The file is no export of Tidings, or it is damaged or incomplete.',
  })

  test('is refused with the reason: no export, incomplete, changed, or under another secret', async () => {
    expect(await refusal(Buffer.from('hello'))).toEqual(isDamaged)
    expect(await refusal(Buffer.alloc(0))).toEqual(isDamaged)
    expect(await refusal(file.subarray(0, 40))).toEqual(isDamaged)
    expect((await refusal(file, 'b'.repeat(32))).message).toMatch(/under another secret.* TIDINGS_SECRET/)
    expect(await versionOf(target)).toBe(0)
    expect(await refusal(file.subarray(0, file.length - 200))).toEqual(isDamaged)
    expect(await refusal(file.subarray(0, file.length >> 1))).toEqual(isDamaged)
    expect(await target`select from partners`).toEqual([])
  })

  test('leaves the database ready for a correct file', async () => {
    await into(target, file)
    expect(await contentsOf(target)).toEqual(await contentsOf(db.sql))
  })
})

test('a file of an older schema is imported and brought to the newest schema', async () => {
  const former = await anEmptyDatabase()
  const newest = await newestVersion()
  await migrate(former, { upTo: newest - 1 })
  const copy = await anEmptyDatabase()
  await into(copy, await exported(former))
  expect(await versionOf(copy)).toBe(newest)

  const ahead = await anEmptyDatabase()
  await migrate(ahead)
  await expect(into(ahead, await exported(former))).rejects.toThrow('import it into a database without tables')
})

describe('data from before the first release', () => {
  const formerDatabase = async () => {
    const former = await anEmptyDatabase()
    await former`create table schema_migrations (version integer primary key, name text not null)`
    await former`insert into schema_migrations values (1, 'foundation'), (2, 'numbering')`
    return former
  }

  test('a database is not exported', async () => {
    await expect(exported(await formerDatabase())).rejects.toThrow(
      'The database was made by a Tidings from before the first release (its migration 1 is "foundation")',
    )
  })

  test('a database takes no import, and nothing in it changes', async () => {
    const former = await formerDatabase()
    await expect(into(former, file)).rejects.toThrow('The database was made by a Tidings from before the first release')
    expect(
      await former`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    ).toEqual([{ relname: 'schema_migrations' }])
  })

  test('a file is not imported', async () => {
    const begin = JSON.stringify({ kind: 'begin', format: 1, schemaVersion: 1, secret: 'f00dcafe' })
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(begin.length)
    const target = await anEmptyDatabase()
    await expect(into(target, gzipSync(Buffer.concat([lengths, Buffer.from(begin)])))).rejects.toThrow(
      'The file was written by a Tidings from before the first release: this one cannot import it.',
    )
    expect(await versionOf(target)).toBe(0)
  })
})

async function onServer(work: (admin: Pool) => Promise<unknown>) {
  const admin = connect(inject('serverUrl'), { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

/** A text in which COPY and JSON escape signs. */
const CALL = 'Call "271828"\n\\ or\ttype'

test('verification codes in the outbox of the simulated operators are masked in the file', async () => {
  const { sql } = db
  const { companyId } = await aWorld(sql)
  const [code, plain, gone] = uuid7Batch(new Date(), 3)
  await sql`
    insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, text, sending_method)
    values (${companyId}, ${code!}, 0, 'SENT', 1, 1, '79160000001', 'Your code: ******', 'VERIFIER_API'),
      (${companyId}, ${plain!}, 0, 'SENT', 1, 1, '79160000002', 'Call 271828', 'API')`
  await storeSimulated(sql, 1, randomUUID(), [
    {
      companyId,
      uuid: code!,
      senderName: 'x',
      destination: '79160000001',
      channelType: 'SMS',
      text: 'Your code: 314159',
    },
    { companyId, uuid: plain!, senderName: 'x', destination: '79160000002', channelType: 'SMS', text: CALL },
    {
      companyId,
      uuid: gone!,
      senderName: 'x',
      destination: '79160000003',
      channelType: 'SMS',
      text: 'Your code: 161803',
    },
  ])
  await sql`
    insert into simulator_messages (gateway_id, worker, company_id, message_uuid, sender_name, destination, channel_type, text)
    values (1, ${randomUUID()}, ${companyId}, ${randomUUID()}, 'x', '79160000001', 'SMS', 'Code 123 of old')`
  const restored = await anEmptyDatabase()
  await into(restored, await exported(sql))
  const rows = await restored`select text from simulator_outbox() order by simulator_id`
  expect(rows.map(({ text }) => text)).toEqual(['Code *** of old', 'Your code: ******', CALL, 'Your code: ******'])
})
