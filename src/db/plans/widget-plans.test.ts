import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import * as store from '../../domain/widgets/store.ts'
import type { Session } from '../../domain/widgets/widget.ts'
import { useDatabase } from '../../testing/database.ts'
import { aCompany, aPartner } from '../../testing/factories.ts'
import { planModes, readsOf } from '../../testing/plans.ts'
import type { Pool } from '../sql.ts'

/** The plans of the statements of the widget on large tables: each reads its own rows, by an index. */
const db = useDatabase()

const SIZE = 200_000
const COMPANIES = 4
const OF_COMPANY = SIZE / COMPANIES
let companyId: number

const hashOf = (n: number) => createHash('sha256').update(String(n)).digest()
/** A session of the company, by its number in the list below. */
const OWN = 4 * 1000 + 2

beforeAll(async () => {
  const { sql } = db
  const partner = await aPartner(sql)
  const ids = await Promise.all(Array.from({ length: COMPANIES }, () => aCompany(sql, partner)))
  companyId = ids[2]!
  await sql`
    insert into widget_sessions (company_id, key_hash, secret_hash, widget_id, destination, client_address, network,
      origin, channel_type, state, asked_at, created_at, ends_at)
    select (${ids}::bigint[])[1 + n % ${COMPANIES}::int], sha256(n::text::bytea), '\\x00', 'abcdefghjkmn',
      (79160000000 + n / 20)::text, '203.0.113.7', '203.0.113.' || n % 200, 'https://shop.example', 'SMS',
      case when n % 10 = 0 then 'SENT' else 'WAITING' end, now() - n * interval '400 ms',
      now() - n * interval '400 ms', now() - n * interval '400 ms' + interval '30 minutes'
    from generate_series(1, ${SIZE}) n`
  await sql`
    insert into captcha_uses (company_id, use_hash, expires_at)
    select (${ids}::bigint[])[1 + n % ${COMPANIES}::int], sha256(n::text::bytea), now() + n * interval '3 ms'
    from generate_series(1, ${SIZE}) n`
  await sql`
    insert into widget_errors (company_id, widget_id, code, reason, created_at)
    select (${ids}::bigint[])[1 + n % ${COMPANIES}::int], 'abcdefghjkm' || n % 3, 110 + n % 10, 'why',
      now() - (${SIZE} - n) * interval '10 seconds'
    from generate_series(1, ${SIZE}) n`
  await sql`analyze`
})

describe.each(planModes)('%s', mode => {
  /** The number of rows read. Fails if a large table was read without an index. */
  async function rowsRead(work: (sql: Pool) => PromiseLike<unknown>, about: RegExp) {
    const reads = await readsOf(db, mode, async sql => work(sql), about)
    const ofLarge = reads.filter(({ table }) => /^(widget_sessions|widget_errors|captcha_uses)$/.test(table))
    expect(ofLarge.filter(({ index, rows }) => index === undefined && rows > 0)).toEqual([])
    return ofLarge.reduce((sum, { rows }) => sum + rows, 0)
  }

  const session = () => ({ companyId, keyHash: hashOf(OWN), asks: 1, messageUuid: null }) as Session

  test('sessions of a network are counted up to a limit', async () => {
    const count = (sql: Pool) => store.countSessions(sql, companyId, '203.0.113.2', 90)
    expect(await rowsRead(count, /count/)).toBeLessThanOrEqual(90)
  })

  test('a session is found and changed by its key', async () => {
    const sent = {
      keyHash: hashOf(OWN),
      messageUuid: '01900000-0000-7000-8000-000000000001',
      verificationUuid: '01900000-0000-7000-8000-000000000001',
      lifetimeSeconds: 300,
    }
    expect(await rowsRead(sql => store.selectSession(sql, companyId, hashOf(OWN)), /select/)).toBe(1)
    expect(await rowsRead(sql => store.updateFailed(sql, session(), 321, null), /update/)).toBeLessThanOrEqual(2)
    expect(await rowsRead(sql => store.updateAsked(sql, session(), 'SMS', 30), /update/)).toBeLessThanOrEqual(2)
    expect(await rowsRead(sql => store.updateSent(sql, companyId, sent, 15), /update/)).toBeLessThanOrEqual(2)
  })

  test('the waiting sessions are found among the sessions that visitors left', async () => {
    expect(await rowsRead(sql => store.selectWaiting(sql, companyId, 15), /WAITING/)).toBeLessThan(20)
  })

  test('writing an error reads only the errors of the last hour', async () => {
    const error = { widgetId: 'abcdefghjkm0', code: 110, reason: 'why', origin: null, destination: null }
    expect(await rowsRead(sql => store.insertError(sql, companyId, error, 1000), /insert/)).toBeLessThan(400)
  })

  test('errors are listed from the newest', async () => {
    const filter = { widgetId: 'abcdefghjkm0', code: 112, limit: 20 }
    expect(await rowsRead(sql => store.listErrors(sql, companyId, filter), /from widget_errors/)).toBeLessThan(2000)
    expect(await rowsRead(sql => store.listErrors(sql, companyId, { limit: 20 }), /from widget_errors/)).toBe(20)
  })

  test('the search for old rows does not read all rows', async () => {
    for (const selectOld of [store.selectOldSessions, store.selectOldUses, store.selectOldErrors])
      expect(await rowsRead(sql => selectOld(sql, 5000), /interval/)).toBeLessThan(OF_COMPANY / 100)
  })

  test('the use of a captcha is looked up by its hash', async () => {
    const use = { hash: hashOf(OWN), expiresAt: new Date() }
    expect(await rowsRead(sql => store.insertUse(sql, companyId, use), /insert/)).toBe(0)
  })
})
