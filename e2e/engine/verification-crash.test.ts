import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CodeChecker } from '../../src/domain/verifications/checker.ts'
import { CodeBox } from '../../src/domain/verifications/code-box.ts'
import { defaultLimits } from '../../src/domain/verifiers/verifier.ts'
import { aMessagingSide, type MessagingSide } from '../../src/testing/conformance/messaging-world.ts'
import { expectBooksInOrder, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { useMessagingApi } from '../../src/testing/messaging-api.ts'
import { aVerifier, codeGateways, codeIn, secret } from '../../src/testing/verification.ts'
import type { World } from '../../src/testing/world.ts'

const api = useMessagingApi()
const { anEngine, anEngineProcess } = useEngines(api)
let side: MessagingSide
let gatewayId: string

beforeEach(async () => {
  side = await aMessagingSide(api.sql)
  const limits = { ...defaultLimits, perPrefix: 100_000, leastConfirmed: 0 }
  gatewayId = await aVerifier(api.sql, side.companyId, { limits })
  await codeGateways(api.sql)
})

const COUNT = 50
/** Numbers with different prefixes. The simulated operators deliver to all of them. */
const numberOf = (n: number) => `7916${String(n).padStart(3, '0')}1234`
const numbers = Array.from({ length: COUNT }, (_, n) => numberOf(n))

const ofCompany = () => api.sql<{ uuid: string; destination: string }[]>`
  select message_uuid as uuid, destination from messages where company_id = ${side.companyId} and sending_method = 'VERIFIER_API'`

/** Every code is delivered, charged and confirmed once: in the rows, in the statistics and in the ledger. */
async function expectEachOnce(count: number) {
  const messages = await ofCompany()
  expect(messages).toHaveLength(count)
  await eventually(async () => {
    const open = await api.sql`
      select from messages where company_id = ${side.companyId} and sending_method = 'VERIFIER_API'
        and (status <> 'DELIVERED' or sealed is not null)`
    expect(open).toHaveLength(0)
  })
  const verifications = await api.sql`select from verifications where company_id = ${side.companyId}`
  expect(verifications).toHaveLength(count)
  const checker = new CodeChecker(api.sql, new CodeBox(secret))
  for (const { uuid, destination } of messages) {
    const texts = await api.sql<{ text: string }[]>`
      select distinct text from simulator_outbox() where company_id = ${side.companyId} and destination = ${destination}`
    expect(texts).toHaveLength(1)
    expect(await checker.check(side.companyId, uuid, codeIn(texts[0]!.text))).toMatchObject({ status: 'CONFIRMED' })
  }
  const counted = await api.sql`
    select what, sum(count)::int as count from verification_counters
    where company_id = ${side.companyId} group by what order by what`
  expect(counted).toEqual(['confirmed', 'delivered', 'sent'].map(what => ({ what, count })))
  const [money] = await api.sql`
    select a.balance = -sum(m.final_price) as is_paid_once, a.reserved from accounts a join messages m using (company_id)
    where a.company_id = ${side.companyId} and m.sending_method = 'VERIFIER_API' group by a.balance, a.reserved`
  expect(money).toEqual({ isPaidOnce: true, reserved: 0n })
  await expectBooksInOrder(api.sql, { companyId: side.companyId } as World)
}

test('an engine that is killed after submitting codes and before recording them loses and doubles no verification', async () => {
  for (const destination of numbers) {
    const body = { channelType: 'SMS', gatewayId, destination }
    expect((await api.call({ method: 'POST', path: '/verifier/send', key: side.keys.VERIFIER, body })).status).toBe(200)
  }
  const killed = await accountLocked(async () => {
    const engine = await anEngineProcess(api.url, secret)
    await eventually(async () =>
      expect(await api.sql`select from simulator_outbox() where company_id = ${side.companyId}`).toHaveLength(COUNT),
    )
    engine.kill('SIGKILL')
    await once(engine, 'exit')
    return engine
  })
  const recorded = await api.sql`
    select from messages where company_id = ${side.companyId} and sending_method = 'VERIFIER_API' and status <> 'CREATED'`
  expect([killed.signalCode, recorded.length]).toEqual(['SIGKILL', 0])
  await anEngine({ secret })
  await expectEachOnce(COUNT)
})

/** The recorder cannot write while the account of the company is locked. */
function accountLocked<T>(work: () => Promise<T>): Promise<T> {
  return api.sql.begin(async sql => {
    await sql`select from accounts where company_id = ${side.companyId} for update`
    return work()
  })
}

let server: ChildProcess | undefined

afterEach(() => {
  server?.kill('SIGKILL')
})

async function anApiProcess(): Promise<string> {
  const script = fileURLToPath(new URL('../../src/testing/api-process.ts', import.meta.url))
  server = spawn(process.execPath, [script, api.url, secret], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(server.stdout!, 'data')
  return `http://127.0.0.1:${String(port).trim()}`
}

test('a service that is killed during requests stores each verification completely or not at all', async () => {
  const address = await anApiProcess()
  const post = async (destination: string): Promise<string | undefined> => {
    const response = await fetch(`${address}/api/v1/verifier/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${side.keys.VERIFIER}`, 'content-type': 'application/json' },
      body: JSON.stringify({ channelType: 'SMS', gatewayId, destination }),
    })
    return ((await response.json()) as { uuid?: string }).uuid
  }
  const answers: (string | undefined)[] = []
  const sending = Promise.allSettled(
    Array.from({ length: 5 }, async (_, worker) => {
      for (let n = worker; n < 900; n += 5) answers.push(await post(numberOf(n)))
    }),
  )
  await eventually(() => expect(answers.length).toBeGreaterThan(COUNT))
  server!.kill('SIGKILL')
  await sending
  await eventually(async () =>
    expect(
      await api.sql`select from pg_stat_activity where application_name = 'tidings http' and datname = current_database()`,
    ).toHaveLength(0),
  )
  const kept = new Set((await ofCompany()).map(({ uuid }) => uuid))
  expect(answers.filter(uuid => !uuid || !kept.has(uuid))).toEqual([])
  await anEngine({ secret })
  await expectEachOnce(kept.size)
})
