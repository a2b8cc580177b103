import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { timeOfUuid7, uuid7 } from '../base/uuid7.ts'
import { useDatabase } from '../testing/database.ts'
import { coordinatorTables, managedTables, referenceTables } from './sharding/placement.ts'

const db = useDatabase()

/** Tables whose keys do not begin with the company, each with its reason. All other tables are sharded by company. */
const exceptions: Record<string, string> = { ...referenceTables, ...coordinatorTables }

type Table = { name: string; tenant: boolean; primaryKey: string[]; uniqueKeys: string[][] }

/** Tables of our schema; partitions have the keys of their parent. */
async function readTables(): Promise<Table[]> {
  return db.sql<Table[]>`
    select c.relname as name,
      exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'company_id') as tenant,
      coalesce((select ${keyColumns()} from pg_index i where i.indrelid = c.oid and i.indisprimary), '{}') as primary_key,
      coalesce((select json_agg(${keyColumns()}) from pg_index i where i.indrelid = c.oid and i.indisunique), '[]')
        as unique_keys
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`
}

const keyColumns = () => db.sql`(
  select array_agg(pg_get_indexdef(i.indexrelid, place, true) order by place)
  from generate_series(1, i.indnkeyatts) place)`

describe('keys', () => {
  let tables: Table[]
  beforeAll(async () => {
    tables = await readTables()
  })

  test('the test reads tables and keys from the catalogue', () => {
    expect(tables.find(table => table.name === 'blacklist')).toEqual({
      name: 'blacklist',
      tenant: true,
      primaryKey: ['company_id', 'destination'],
      uniqueKeys: [['company_id', 'destination']],
    })
    expect(tables.find(table => table.name === 'lanes')!.uniqueKeys).toHaveLength(2)
    expect(tables.find(table => table.name === 'companies')).toMatchObject({ primaryKey: ['company_id'] })
    expect(tables.find(table => table.name === 'messages')).toMatchObject({
      primaryKey: ['company_id', 'message_uuid'],
    })
  })

  test('every table has a primary key', () => {
    expect(tables.filter(table => table.primaryKey.length === 0)).toEqual([])
  })

  test('every table of a company has the company first in its primary key and in every unique index', () => {
    const keys = tables
      .filter(table => table.tenant && !(table.name in exceptions))
      .flatMap(table => [table.primaryKey, ...table.uniqueKeys].map(key => ({ table: table.name, key })))
    expect(keys.length).toBeGreaterThan(10)
    expect(keys.filter(({ key }) => key[0] !== 'company_id')).toEqual([])
  })

  test('the list of exceptions names exactly the other tables', () => {
    const apart = tables.filter(({ primaryKey, uniqueKeys }) =>
      [primaryKey, ...uniqueKeys].some(key => key[0] !== 'company_id'),
    )
    expect(apart.map(table => table.name).sort()).toEqual(Object.keys(exceptions).sort())
  })

  test('tables that Citus has to know are tables of the coordinator', () => {
    expect([...managedTables].filter(table => !(table in coordinatorTables))).toEqual([])
  })

  test('a reference from one table of a company to another carries the company', async () => {
    const tenants = tables.filter(table => table.tenant && !(table.name in exceptions)).map(table => table.name)
    const strays = await db.sql`
      select conname from pg_constraint k
      where contype = 'f' and conrelid::regclass::text = any(${tenants}) and confrelid::regclass::text = any(${tenants})
        and not exists (
          select 1 from generate_subscripts(conkey, 1) place
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[place]
          join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[place]
          where a.attname = 'company_id' and b.attname = 'company_id')`
    expect(strays).toEqual([])
  })
})

type Month = { name: string; from: string; to: string; isDefault: boolean }

async function readMonths(): Promise<Month[]> {
  return db.sql<Month[]>`
    select c.relname as name, bound like 'DEFAULT%' as is_default,
      substring(bound from $$FROM [(]'([^']*)'$$) as "from", substring(bound from $$TO [(]'([^']*)'$$) as "to"
    from pg_inherits i join pg_class c on c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) bound
    where i.inhparent = 'messages'::regclass order by c.relname`
}

/** The smallest key of the month that is `ahead` months from this one, in UTC. */
function floorOfMonth(ahead: number): string {
  const now = new Date()
  return floorOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)))
}

const floorOf = (time: Date) => `${uuid7(time).slice(0, 13)}-0000-0000-000000000000`
const nameOf = (floor: string) => `messages_${timeOfUuid7(floor).toISOString().slice(0, 7).replace('-', '_')}`

const thisMonthAndThreeAhead = () =>
  [0, 1, 2, 3].map(ahead => ({
    name: nameOf(floorOfMonth(ahead)),
    from: floorOfMonth(ahead),
    to: floorOfMonth(ahead + 1),
    isDefault: false,
  }))

function insertMessage(uuid: string) {
  return db.sql`
    insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination)
    values (1, ${uuid}, 0, 'CREATED', 1, 1, '79160000001')`
}

describe('the months of messages', () => {
  test('messages are partitioned by range of their key', async () => {
    const [row] = await db.sql`select pg_get_partkeydef('messages'::regclass) as key`
    expect(row!.key).toBe('RANGE (message_uuid)')
  })

  test('this month and three ahead exist, as whole months in UTC without a gap and without a default partition', async () => {
    expect(await readMonths()).toEqual(thisMonthAndThreeAhead())
  })

  test('a month has the indexes of messages', async () => {
    const [row] = await db.sql`
      select count(*) filter (where indrelid = 'messages'::regclass) as parent,
        count(*) filter (where indrelid = ${nameOf(floorOfMonth(3))}::regclass) as month
      from pg_index`
    expect(row!.parent).toBe(6)
    expect(row!.month).toBe(row!.parent)
  })

  test('the last moment of a month and the first of the next lie in their own months', async () => {
    const first = floorOfMonth(1)
    const last = uuid7(new Date(timeOfUuid7(first).getTime() - 1))
    for (const uuid of [first, last]) await insertMessage(uuid)
    const rows =
      await db.sql`select message_uuid as uuid, tableoid::regclass::text as month from messages order by message_uuid`
    expect(rows).toEqual([
      { uuid: last, month: nameOf(floorOfMonth(0)) },
      { uuid: first, month: nameOf(first) },
    ])
  })

  test.each([
    ['a month too far ahead', 4],
    ['a month long past', -24],
  ])('a message of %s is refused', async (_, ahead) => {
    await expect(insertMessage(floorOfMonth(ahead))).rejects.toThrow(/no partition of relation "messages"/)
  })

  test('uuid7_floor in SQL gives the smallest key of a moment', async () => {
    const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    await fc.assert(
      fc.asyncProperty(moments, async moment => {
        const [row] = await db.sql`select uuid7_floor(${moment}) as floor`
        expect(row!.floor).toBe(floorOf(moment))
        expect(row!.floor <= uuid7(moment)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('creating months', () => {
  const forgetAllMonths = async () => {
    for (const { name } of await readMonths()) await db.sql`drop table ${db.sql(name)}`
  }

  test('creating the months again changes nothing', async () => {
    const before = await db.sql`select inhrelid from pg_inherits where inhparent = 'messages'::regclass order by 1`
    await db.sql`select ensure_message_months()`
    const after = await db.sql`select inhrelid from pg_inherits where inhparent = 'messages'::regclass order by 1`
    expect(after).toEqual(before)
  })

  test('the bounds are months of UTC in every time zone of the session', async () => {
    for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
      await forgetAllMonths()
      await db.sql.begin(async tx => {
        await tx`select set_config('TimeZone', ${zone}, true)`
        await tx`select ensure_message_months()`
      })
      expect(await readMonths()).toEqual(thisMonthAndThreeAhead())
    }
  })

  test('several processes may create the months at once', async () => {
    for (let round = 0; round < 5; round++) {
      await forgetAllMonths()
      await Promise.all(Array.from({ length: 8 }, () => db.sql`select ensure_message_months()`))
      expect(await readMonths()).toEqual(thisMonthAndThreeAhead())
    }
  })
})
