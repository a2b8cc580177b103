import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { printOfTables } from '../../testing/conformance/world.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

type Subscriber = { destination: string; externalId: string | number }

const upload = (subscribers: Subscriber[], senderName = 'romashka_bot', channelType = 'TELEGRAM') =>
  api.call({
    method: 'POST',
    path: '/subscribers',
    key: side.keys.MESSAGE,
    body: { channelType, senderName, subscribers },
  })

const kept = async (senderName = 'romashka_bot') =>
  (
    await api.sql`select destination, address from subscribers
      where company_id = ${side.companyId} and sender_name = ${senderName} order by destination, address`
  ).map(({ destination, address }) => [destination, address])

test('subscribers are kept under their normalised numbers; ids of chats may be numbers', async () => {
  const { status, body } = await upload(
    [
      { destination: '8 (916) 000-00-01', externalId: '5001' },
      { destination: '+79160000002', externalId: -1001234567890 },
    ],
    'first_bot',
  )
  expect([status, body]).toEqual([200, { accepted: 2, rejected: 0 }])
  expect(await kept('first_bot')).toEqual([
    ['79160000001', '5001'],
    ['79160000002', '-1001234567890'],
  ])
})

test('a known subscriber counts as accepted', async () => {
  const known = [{ destination: '79160000003', externalId: '5003' }]
  await upload(known)
  const after = await printOfTables(api.sql)
  expect((await upload([...known, ...known])).body).toEqual({ accepted: 2, rejected: 0 })
  expect(await printOfTables(api.sql)).toEqual(after)
})

test('no number, no id, and an id that nothing could hold are rejected; the rest is taken', async () => {
  const { body } = await upload(
    [
      { destination: 'no number', externalId: '1' },
      { destination: '', externalId: '2' },
      { destination: '79160000004', externalId: '' },
      { destination: '79160000004', externalId: '  ' },
      { destination: '79160000004', externalId: randomBytes(1001).toString('hex') },
      { destination: '79160000004', externalId: '🌼'.repeat(501) },
      { destination: '79160000004', externalId: randomBytes(1000).toString('hex') },
    ],
    'N'.repeat(64),
    'PUSH',
  )
  expect(body).toEqual({ accepted: 1, rejected: 6 })
  expect(await kept('N'.repeat(64))).toHaveLength(1)
})

test('ten thousand with the longest ids are taken at once, one more is not', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({
    destination: `7916${String(1_000_000 + i)}`,
    externalId: `${i}-${'x'.repeat(1400)}`,
  }))
  expect((await upload(many, 'large_bot')).body).toEqual({ accepted: 10_000, rejected: 0 })
  expect(await kept('large_bot')).toHaveLength(10_000)
  const { status, body } = await upload([...many, many[0]!], 'larger_bot')
  expect([status, body.error]).toEqual([400, { code: 4000, msg: 'subscribers: must have at most 10000 items' }])
  expect(await kept('larger_bot')).toEqual([])
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
