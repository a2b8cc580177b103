import { expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool } from '../../db/sql.ts'
import { useDatabase } from '../../testing/database.ts'
import { CodeChecker } from './checker.ts'
import { CodeBox } from './code-box.ts'

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
