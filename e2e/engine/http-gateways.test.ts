import { afterEach, expect, test } from 'vitest'
import { entryOf } from '../../src/channels/catalogue.ts'
import type { Gateway } from '../../src/domain/gateways/gateway.ts'
import { addGateway, changeGateway } from '../../src/domain/gateways/gateways.ts'
import { gatewayKey } from '../../src/domain/gateways/secrets.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { expectBooksInOrder, fatesOf, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { type FakeProviderOptions, type Reply, startFakeProvider } from '../../src/testing/providers/http-provider.ts'
import { aDispatch, aWorld, someRecipients, start } from '../../src/testing/world.ts'

/** The engine with providers of the gateway protocol, over real sockets. */

const db = useDatabase()
const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})
const { anEngine } = useEngines(db) // engines stop before the providers
const secret = 'a secret of the tests, 32 or longer'
const { secrets, check } = entryOf('http')
const keeping = { key: gatewayKey(secret), secretNames: secrets, check }

async function aProvider(name: string, given: Partial<FakeProviderOptions> = {}) {
  const signing = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const provider = await startFakeProvider({ secret: signing, ...given })
  atEnd.push(() => provider.stop())
  const settings = { url: provider.url, secret: signing, idempotent: given.idempotent ?? false }
  const gateway = { name, channelType: 'SMS', connector: 'http', brands: [], partsPerSecond: null, settings } as const
  return { provider, gateway: (await addGateway(db.sql, { ...gateway, brands: [] }, keeping))! }
}

const pause = ({ gatewayId }: Gateway, paused: boolean) => changeGateway(db.sql, gatewayId, { paused }, keeping)

/** Makes messages that wait for another attempt due at once. */
const hurry = () => db.sql`update leases set due_at = now() where worker is null`

test('a message that an idempotent provider may have accepted is never sent through another provider while the first one has errors', async () => {
  let trouble: Reply | undefined = 'take and fail'
  const first = await aProvider('first', {
    idempotent: true,
    reply: ({ text }) => (text === 'In trouble' ? trouble : undefined),
  })
  const second = await aProvider('second')
  await pause(second.gateway, true)
  const [world, numbering] = [await aWorld(db.sql), await loadNumbering(db.sql)]
  const send = async (text: string) => {
    const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(1), { text })
    await start(db.sql, world, dispatchId)
    return dispatchId
  }
  const attempts = async (dispatchId: number) => {
    const [lease] = await db.sql<{ attempts: number }[]>`
      select attempts from leases join lanes using (company_id, lane_id) where dispatch_id = ${dispatchId}`
    return lease?.attempts ?? 0
  }

  const dispatchId = await send('In trouble')
  await anEngine({ secret })
  await eventually(async () => expect(await attempts(dispatchId)).toBe(1))
  trouble = 'reset'
  await pause(second.gateway, false)
  await eventually(async () => {
    await send('Hello')
    expect(second.provider.taken.length).toBeGreaterThan(0)
  })
  await eventually(async () => {
    await hurry()
    expect(await attempts(dispatchId)).toBeGreaterThan(4)
  })
  trouble = undefined
  await eventually(async () => {
    await hurry()
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ SENT: 1 })
  })
  const times = ({ provider }: typeof first) => provider.taken.filter(({ text }) => text === 'In trouble').length
  expect([times(first), times(second)]).toEqual([1, 0])
  await expectBooksInOrder(db.sql, world)
})
