import { expect, onTestFinished, test, vi } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { testOnOneServer } from '../../testing/one-server.ts'
import { CodeChecker } from './checker.ts'
import { CodeBox } from './code-box.ts'
import { checkCodes } from './store.ts'

const db = useDatabase()
const COMPANY = 1
const codes = new CodeBox('a secret of more than thirty-two characters')

/** Counts the statements of a checker. */
function aChecker() {
  let statements = 0
  const counted = new Proxy(db.sql, {
    apply: (sql, _, parts) => {
      statements += 1
      return Reflect.apply(sql, undefined, parts)
    },
  }) as Pool
  return { checker: new CodeChecker(counted, codes), statements: () => statements }
}

const ROUNDS = 5

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Checks one code after the other. The next check comes a few turns after an answer, as it does from a network. */
async function oneClient(checker: CodeChecker) {
  for (const uuid of uuid7Batch(new Date(), ROUNDS)) {
    await checker.check(COMPANY, uuid, '123456')
    for (let i = 0; i < 3; i++) await turn()
  }
}

test('clients that were just answered are in the next statement together with clients that waited', async () => {
  const { checker, statements } = aChecker()
  const clients = Array.from({ length: 20 }, () => oneClient(checker))
  await turn()
  clients.push(...Array.from({ length: 10 }, () => oneClient(checker)))
  await Promise.all(clients)
  expect(statements()).toBeLessThan(2 * ROUNDS) // as many as without the wait for the clients
})

test('a client alone has one statement for each check', async () => {
  const { checker, statements } = aChecker()
  await oneClient(checker)
  expect(statements()).toBe(ROUNDS)
})

test('a statement that waited for a lock for seconds does not make the next one wait for seconds', async () => {
  const { checker, statements } = aChecker()
  await oneClient(checker) // the connection is open before the clock stands still
  const before = statements()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const checks = uuid7Batch(new Date(), 8).map(uuid => checker.check(COMPANY, uuid, '123456'))
  while (statements() === before) await turn()
  vi.advanceTimersByTime(5000)
  await Promise.all(checks)
  const next = checker.check(COMPANY, uuid7Batch(new Date(), 1)[0]!, '123456')
  for (let i = 0; i < 5; i++) await turn()
  vi.advanceTimersByTime(20)
  for (let i = 0; i < 5; i++) await turn()
  expect(statements()).toBe(before + 2)
  await next
})

testOnOneServer('codes that were sent together and are confirmed together touch no index', async () => {
  const uuids = uuid7Batch(new Date(), 300)
  const guesses = uuids.map(uuid => ({ uuid, hash: codes.hash(uuid, '123456') }))
  await db.sql`
    insert into verifications (company_id, verification_uuid, verifier_id, destination, country, prefix, channel_type,
      code_hashes, code_ends, tries_left, sent_at)
    select ${COMPANY}, message_uuid, 'abcdef', '79161234567', 'RU', '7916123', 'SMS', array[decode(hash, 'hex')],
      array[now() + interval '1 hour'], 3, now()
    from unnest(${uuids}::uuid[], ${guesses.map(({ hash }) => hash)}::text[]) q (message_uuid, hash)`
  const changes = await db.sql.begin(async sql => {
    await checkCodes(sql, COMPANY, guesses)
    const [row] = await sql<{ changed: number; within: number }[]>`
      select n_tup_upd as changed, n_tup_hot_upd as within from pg_stat_xact_user_tables where relname = 'verifications'`
    return row
  })
  expect(changes).toEqual({ changed: 300, within: 300 })
})
