import { AppError, invalidField, notFound } from '../../base/errors.ts'
import { byCompany } from '../../db/by-company.ts'
import { acrossCompanies } from '../../db/reachable.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { type CallbackApi, withoutPassword } from './callback.ts'
import * as store from './store.ts'

export { type AskedTest, finishTest, type TestResult } from './store.ts'

/**
 * A test call is one signed request that is about no message. The cabinet requests it. An engine sends it like a callback:
 * from the same address, only to public networks, with the same time-out. It is sent once, and its result does not change
 * the state of the receiver.
 */
const MOST_A_MINUTE = 10
const MINUTE_MS = 60_000
/** A test call that no engine takes within this time is not sent, because the person no longer waits for it. */
const WAITS_MS = 30_000
const MOST_URL = 2000

/** Requests a test call in the format of the company's newest batch. The default address is the address of that batch. */
export async function askForTest(sql: Transaction, companyId: number, url: string | undefined, now: Date) {
  const [newest] = await store.selectNewestUrl(sql, companyId)
  const address = checkedUrl(url ?? newest?.url)
  const [sent] = await store.countTestsSince(sql, companyId, new Date(now.getTime() - MINUTE_MS))
  if (sent!.count >= MOST_A_MINUTE)
    throw new AppError('too_many_requests', 'Too many test calls', { retryAfterSeconds: 60, limit: MOST_A_MINUTE })
  const api = newest?.api ?? 'messaging'
  const [made] = await store.insertTest(sql, companyId, { url: address, api }, now)
  return { testId: made!.testId, url: withoutPassword(address) }
}

function checkedUrl(url: string | undefined): string {
  const parsed = url === undefined ? undefined : URL.parse(url)
  if (url === undefined || !parsed || !/^https?:$/.test(parsed.protocol) || url.length > MOST_URL)
    throw invalidField('url', 'must be an http or https address')
  return url
}

/** `lost`: no engine took the call in time, or the engine that took it has ended. */
export type TestState = Omit<store.TestCall, 'finishedAt' | 'requestedAt'> & { state: 'waiting' | 'finished' | 'lost' }

export async function testCall(sql: Sql, companyId: number, testId: number, now: Date): Promise<TestState> {
  const [found] = await store.selectTest(sql, companyId, testId)
  if (!found) throw notFound('Test call')
  const { finishedAt, requestedAt, ...test } = found
  const isOver = now.getTime() - requestedAt.getTime() > WAITS_MS
  return { ...test, url: withoutPassword(test.url), state: finishedAt ? 'finished' : isOver ? 'lost' : 'waiting' }
}

/** Takes the test calls that an engine sends next. */
export async function takeTests(sql: Sql, now: Date, limit: number): Promise<store.AskedTest[]> {
  const oldest = new Date(now.getTime() - WAITS_MS)
  const waiting = await acrossCompanies(sql, () => store.selectWaitingTests(sql, oldest, limit))
  return byCompany(waiting, (companyId, own) =>
    store.takeTests(
      sql,
      companyId,
      own.map(({ testId }) => testId),
      now,
    ),
  )
}

export const idOfTest = ({ companyId, testId }: store.AskedTest) => `test_${companyId}_${testId}`

/** The event of a test call. Its message id is all zeros, because it is about no message. */
export function bodyOfTest(api: CallbackApi, now: Date): string {
  const at = now.toISOString()
  return api === 'partner'
    ? JSON.stringify({ event: 'test', messageUuid: NO_MESSAGE, testedAt: at })
    : JSON.stringify([{ message_uuid: NO_MESSAGE, callback_event: 'test', status: 'test', status_time: at }])
}

const NO_MESSAGE = '00000000-0000-0000-0000-000000000000'
