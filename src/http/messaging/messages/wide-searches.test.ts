import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../testing/eventually.ts'
import { numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld } from '../../../testing/world.ts'

/** Searches that may read everything a company ever sent: one company's leave room for the others'. */

const api = useMessagingApi()
let slow: string
let other: string
let answer: ReturnType<typeof search> | undefined

beforeAll(async () => {
  slow = (await aKey(api.sql, (await aWorld(api.sql)).companyId)).key
  other = (await aKey(api.sql, (await aWorld(api.sql)).companyId)).key
})

const search = (key: string, filter: string) => api.call({ method: 'GET', path: `/message?${filter}`, key })

/** Blocks every reader of inbound messages until it ends. */
async function whileInboundIsLocked(work: () => Promise<void>) {
  await api.sql.begin(async sql => {
    await sql`lock table inbound_messages in access exclusive mode`
    await work()
  })
}

const waitingSearches = async () =>
  (
    await api.sql`
      select from pg_locks where not granted and relation = 'inbound_messages'::regclass
        and database = (select oid from pg_database where datname = current_database())`
  ).length

const wide = 'direction=inbound&content=hello'

test('sixteen searches of one company at once are all answered', async () => {
  expect((await search(slow, wide)).status).toBe(200) // connects and plans, which would count as waiting below
  const answers = await Promise.all(Array.from({ length: 16 }, () => search(slow, wide)))
  expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200))
})

test('a search that waits too long is 429 and told when to come again; another company searches meanwhile', async () => {
  await whileInboundIsLocked(async () => {
    const first = search(slow, wide)
    await eventually(async () => expect(await waitingSearches()).toBe(1))
    const waiting = search(slow, wide)
    expect((await search(other, 'content=hello')).status).toBe(200)
    // What a key finds is little: such searches have places of their own.
    expect((await search(slow, `destination=${numberOf.MTS}&content=hello`)).status).toBe(200)
    expect((await search(slow, 'external_message_id=order-1&sort=sentTime')).status).toBe(200)
    expect(await waiting).toMatchObject({
      status: 429,
      headers: { 'retry-after': '2', 'ratelimit-limit': '1', 'ratelimit-remaining': '0', 'ratelimit-reset': '2' },
      body: { error: { code: 4290 } },
    })
    answer = first
  })
  expect((await answer!).status).toBe(200)
})
