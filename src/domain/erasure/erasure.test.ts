import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Sql } from '../../db/sql.ts'
import { exportDatabase } from '../../db/transfer.ts'
import { useDatabase } from '../../testing/database.ts'
import { billingZone } from '../../testing/world.ts'
import { blacklistedAmong, removeFromBlacklist } from '../blacklist/blacklist.ts'
import { useErasureSecret } from '../blacklist/erased.ts'
import { searchedIn, type TableRule, tableRules } from './columns.ts'
import { eraseNumber, type Plan, planErasure } from './erasure.ts'
import { jsonNumberOf, patternOf } from './number.ts'
import { readTargets, type Target } from './store.ts'

const db = useDatabase()
const SECRET = 'a secret of the tests, long enough'
const NUMBER = '79160000001'
/** Every spelling ends with these digits when the signs between them are left out. */
const NATIONAL = NUMBER.slice(1)
const spellings = [
  NUMBER,
  '+7 (916) 000-00-01',
  '8 916 000 00 01',
  '916\u00a0000\u201300\u201301',
  '%2B7%20916%20000%2000%2001',
  '007.916.000.00.01',
  `number:${NUMBER}`,
  '%2B7+%28916%29+000-00-01',
  '%2B7%C2%A0916%E2%80%91000%2D00%2d01',
  '7_916_000_00_01',
  '7\u200b916\u00ad000\u206000\ufeff01',
  '+7 916\n000\t00\r\n01',
]

/** Letters and escaped signs before the number. */
const joined = ['%2079160000001', '%2279160000001', '%289160000001', 'id9160000001', 'phone9160000001', '9160000001and']

beforeAll(() => useErasureSecret(SECRET))

const erase = (recorded: Plan[] = []) =>
  eraseNumber(db.sql, NUMBER, {
    billingZone,
    now: new Date(),
    record: async plan => void recorded.push(plan),
  })

describe('a number in a text', () => {
  const masked = async (text: string) => {
    const [row] = await db.sql`select regexp_replace(${text}, ${patternOf(NUMBER)}, '#', 'g') as masked`
    expect(text.replaceAll(new RegExp(patternOf(NUMBER), 'g'), '#')).toBe(row!.masked)
    return row!.masked
  }

  test.each(spellings)('is found as %s', async spelling => {
    expect(await masked(`a ${spelling} b`)).toMatch(/^a (%2B|\D*)#\D*b$/)
  })

  test.each(joined)('is found in %s', async text => {
    expect(await masked(text)).toMatch(/^\D*(%2\d)?#\D*$/)
  })

  test.each(['791600000011', '179160000001', '89160000002', 'c0ffee00-0000-4000-8000-a9160000001b', '79160000001e5'])(
    'is not found in %s',
    async text => expect((await masked(text)).includes('#')).toBe(text === '79160000001e5'),
  )

  test('is replaced in JSON, also where it is a number', async () => {
    const text = JSON.stringify({ a: 79160000001, b: [89160000001, 9160000001], c: '+79160000001', d: 791600000010 })
    const [row] = await db.sql`
      select regexp_replace(regexp_replace(${text}, ${jsonNumberOf(NUMBER)}, '\\1null', 'g'), ${patternOf(NUMBER)}, '#', 'g')::jsonb as value`
    expect(row!.value).toEqual({ a: null, b: [null, null], c: '+#', d: 791600000010 })
  })

  test.each(['-9160000001', '0.9160000001', '81079160000001', '7.9160000001e10', '[-79160000001.5]'])(
    'leaves JSON that can be read: %s',
    async value => {
      const [row] = await db.sql`
        select regexp_replace(regexp_replace(${`{"a": ${value}, "b": 1}`}, ${jsonNumberOf(NUMBER)}, '\\1null', 'g'), ${patternOf(NUMBER)}, '#', 'g')::jsonb as value`
      expect(row!.value).toEqual({ a: value.startsWith('[') ? [null] : null, b: 1 })
    },
  )
})

// The list of columns -----------------------------------------------------------------------------------------------

type Column = { table: string; column: string; type: string }

/** All columns that can hold a text, and the only column with phone numbers as integers. */
const columnsOfSchema = () => db.sql<Column[]>`
  select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname !~ '^messages_[0-9]' and (coalesce(e.typname, t.typname) not in
      ('bool', 'int2', 'int4', 'int8', 'float8', 'numeric', 'uuid', 'date', 'timestamp', 'timestamptz')
      and coalesce(e.typtype, t.typtype) <> 'e' or c.relname = 'ported_numbers' and a.attname = 'number')
  order by 1, a.attnum`

const listedIn = ({ settings = [], expiring = {}, words = [], opaque = [], others = {}, ...rule }: TableRule) => [
  ...searchedIn(rule),
  ...settings,
  ...Object.keys(expiring),
  ...words,
  ...opaque,
  ...Object.keys(others),
]

test('every column that can hold a text is searched, or listed with a reason', async () => {
  const found = (await columnsOfSchema()).map(({ table, column }) => `${table}.${column}`)
  const listed = Object.entries(tableRules).flatMap(([table, rule]) =>
    listedIn(rule).map(column => `${table}.${column}`),
  )
  expect(found.length).toBeGreaterThan(200)
  expect(listed.toSorted()).toEqual(found.toSorted())
})

// A number in every table ---------------------------------------------------------------------------------------------

const inTransaction = (statement: string, values: string[] = []) =>
  db.sql.begin(async sql => {
    await sql`select set_config('tidings.erasing', 'on', true)`
    await sql.unsafe(statement, values)
  })

const jsonOf = (column: string, spelling: string) => {
  const named = { note: `Call ${spelling}`, numbers: [Number(NUMBER)] }
  const inbound = { kind: 'inbound', item: { destination: NUMBER, content: 'A secret wish', specialContent: {} } }
  if (column === 'events') return JSON.stringify([named, inbound])
  if (column === 'messages') {
    const simulated = { companyId: 1, uuid: randomUUID(), senderName: spelling, channelType: 'SMS' }
    const toOther = { ...simulated, destination: '79160000099', text: `Call ${spelling}` }
    return JSON.stringify([{ ...simulated, destination: NUMBER, text: 'A secret wish' }, toOther])
  }
  return JSON.stringify(column === 'steps' || column === 'cascade' ? [named] : named)
}

/** Fills every searched column of every row. One message belongs to another number, and has the number in its texts. */
async function fillEverything() {
  await db.sql.unsafe(await readFile(new URL('../../testing/baseline-rows.sql', import.meta.url), 'utf8'))
  await db.sql`
    insert into simulator_batches (gateway_id, worker, message_count, messages) values (1, ${randomUUID()}, 1, '[]')`
  await db.sql`update messages set status = 'FAILED', final_price = 0, error_code = 450`
  await db.sql`update dispatches set status = 'COMPLETED'`
  await db.sql`update cascades set ended_at = now()`
  await db.sql`update numbering_uploads set kind = 'register'`
  await db.sql`delete from blacklist where destination <> ${NUMBER}`
  await db.sql`insert into ported_numbers values (${NUMBER}::text::bigint, 1)`
  const columns = await columnsOfSchema()
  let turn = 0
  for (const [table, rule] of Object.entries(tableRules)) {
    for (const column of searchedIn(rule).filter(column => column !== rule.number)) {
      const spelling = spellings[turn++ % spellings.length]!
      const isJson = rule.json?.includes(column)
      const type = columns.find(one => one.table === table && one.column === column)!.type
      const isWhole = rule.equal?.includes(column)
      const whole = column === 'subject' ? `number:${NUMBER}` : NUMBER
      const value = isJson ? jsonOf(column, spelling) : isWhole ? whole : `Call ${spelling}!`
      await inTransaction(`update ${table} set ${column} = $1::text::${type}`, [value])
    }
    if (rule.number) {
      const own = table === 'messages' ? "message_uuid < uuid7_floor(now() + interval '2 hours')" : 'true'
      await inTransaction(`update ${table} set ${rule.number} = '${NUMBER}' where ${own}`)
    }
  }
  await db.sql`create table messages_2020_01 (like messages including all)`
  await db.sql`insert into messages_2020_01 select * from messages`
}

/** The rows of all tables that have the number in any spelling: it looks at the digits, and not for the pattern. */
async function tablesNaming(): Promise<string[]> {
  const tables = await db.sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await db.sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`)
    if (rows.some(({ row }) => hasNumber(row))) found.push(name)
  }
  return found
}

const hasNumber = (text: string) =>
  text.replaceAll(/%(20|28|29|2D|2d|C2%A0|E2%80%91)|[^0-9,:]/g, '').includes(NATIONAL) ||
  text.includes(Buffer.from(NATIONAL).toString('hex'))

async function dump(): Promise<string> {
  const pieces: Buffer[] = []
  const to = new Writable({
    write(piece, _, done) {
      pieces.push(piece)
      done()
    },
  })
  await exportDatabase(db.sql, SECRET, to)
  return gunzipSync(Buffer.concat(pieces)).toString('latin1')
}

const parentOf = (name: string) => name.replace(/^(messages|audit_entries|requests|submissions)_\d.*$/, '$1')

describe('a number in every column of every table', () => {
  beforeAll(fillEverything)

  test('is found by the search of this test, before it is erased', async () => {
    const searched = Object.keys(tableRules).filter(table => searchedIn(tableRules[table]!).length > 0)
    const found = new Set((await tablesNaming()).map(parentOf))
    expect([...found].toSorted()).toEqual([...searched, 'ported_numbers'].toSorted())
    expect(hasNumber(await dump())).toBe(true)
    expect((await planErasure(db.sql, NUMBER)).objections).toEqual([])
  })

  /** The condition for the row with the highest key. */
  async function lastRowOf(sql: Sql, { name, key, isOfCompany }: Target): Promise<string> {
    const columns = [...(isOfCompany ? ['company_id'] : []), ...key.map(({ column }) => column)]
    const [row] = await sql.unsafe<{ values: string[] }[]>(
      `select array[${columns.map(column => `${column}::text`).join(', ')}] as values from ${name} order by 1 desc limit 1`,
    )
    return columns.map((column, i) => `${column} = '${row!.values[i]}'`).join(' and ')
  }

  const settings = Object.entries(tableRules).flatMap(([table, { settings = [] }]) =>
    settings.map(column => [table, column] as const),
  )

  test('is not erased while it is a setting', async () => {
    const types = await columnsOfSchema()
    const targets = await readTargets(db.sql)
    const planned = db.sql.begin(async sql => {
      for (const [table, column] of settings) {
        const { type } = types.find(one => one.table === table && one.column === column)!
        const value = type === 'text[]' ? `{${NUMBER}}` : type === 'jsonb' ? jsonOf(column, NUMBER) : `${NUMBER}!`
        const target = targets.find(({ name }) => name === table)!
        await sql.unsafe(`update ${table} set ${column} = $1::text::${type} where ${await lastRowOf(sql, target)}`, [
          value,
        ])
      }
      throw await planErasure(sql, NUMBER) // so that nothing changes
    })
    const plan: Plan | Error = await planned.catch(thrown => thrown)
    if (plan instanceof Error) throw plan
    expect(settings.length).toBeGreaterThan(20)
    expect(plan.objections).toEqual(
      settings.map(([table, column]) => `the number is a setting, ${table}.${column} (rows: 1): change it first`),
    )
  })

  test('is not erased while a text with it is still to be sent', async () => {
    await db.sql`update dispatches set status = 'STARTED' where dispatch_id = 1`
    expect((await erase()).objections).toEqual([
      expect.stringMatching(
        /^1 rows of dispatches have the number in a text that is still to be sent \(dispatch 1 of company \d+: STARTED\): stop or wait for them$/,
      ),
    ])
    await db.sql`update dispatches set status = 'COMPLETED'`
    await db.sql`update messages set status = 'SENT' where destination <> ${NUMBER}`
    expect((await erase()).objections.join()).toMatch(
      /rows of messages_\d{4}_\d{2} have the number in a text that is still to be sent: stop or wait for them/,
    )
    await db.sql`update messages set status = 'FAILED'`
    await db.sql`update messages set status = 'SENT' where destination = ${NUMBER}`
    expect((await erase()).objections.join()).toMatch(/the operator has not reported on 2 messages yet/)
    await db.sql`update messages set status = 'FAILED'`
  })

  test('is gone afterwards, in all columns and in a dump', async () => {
    const planned = await planErasure(db.sql, NUMBER)
    const recorded: Plan[] = []
    const done = await erase(recorded)
    expect(done).toEqual({ naming: planned.naming, objections: [], left: [] })
    expect(recorded).toEqual([planned])

    expect(await tablesNaming()).toEqual([])
    const text = await dump()
    expect(hasNumber(text)).toBe(false)
    const outbox = await db.sql`select destination, text from simulator_outbox() order by simulator_id`
    expect(outbox.map(({ destination }) => destination)).toEqual(['[erased]', '79160000099'])
    expect(outbox.map(({ text }) => text)).toEqual(['[removed]', 'Call [erased]'])
    expect(text).not.toContain('A secret wish')
    expect(text).toContain('"content": "[removed]"')
  })

  test('takes along the rows that belong to its messages', async () => {
    expect(await db.sql`select steps from cascades`).toEqual([{ steps: [{ condition: null, ttlSeconds: null }] }])
    expect(await db.sql`select code from flashcall_results`).toEqual([{ code: null }])
    expect(await db.sql`select from short_links`).toEqual([])
    expect(await db.sql`select from link_clicks`).toEqual([])
    const [own, other] = await db.sql`
      select text, external_id, content, options, sealed from messages order by destination desc`
    const nothing = { externalId: null, content: null, options: null, sealed: null }
    expect([own, other]).toMatchObject([
      { text: '[removed]', ...nothing },
      { text: '[removed]', ...nothing },
    ])
    expect(await db.sql`select text from messages where destination like 'Call%' or destination ~ '^7'`).toEqual([
      { text: expect.stringMatching(/^Call .*\[erased\]!$/) },
    ])
  })

  test('stays on the blacklist, and can be taken off it', async () => {
    expect(await blacklistedAmong(db.sql, 1, [NUMBER, '79160000002'])).toEqual(new Set([NUMBER]))
    useErasureSecret('another secret')
    expect(await blacklistedAmong(db.sql, 1, [NUMBER])).toEqual(new Set())
    useErasureSecret(SECRET)
    expect(await removeFromBlacklist(db.sql, 1, NUMBER)).toBe(true)
    expect(await blacklistedAmong(db.sql, 1, [NUMBER])).toEqual(new Set())
  })

  test('the audit log refuses changes as before', async () => {
    await expect(db.sql`update audit_entries set actor = 'x'`).rejects.toThrow('the audit log can only grow')
    await expect(inTransaction('delete from audit_entries')).rejects.toThrow('the audit log can only grow')
  })
})
