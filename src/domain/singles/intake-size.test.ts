import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aMessageRequest } from '../../testing/message-requests.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import type { MessageRequest } from '../messages/single.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { Intake } from './intake.ts'

/** Messages that wait to be written are limited by the memory that all their fields take. */

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** Has an invalid destination, so it is refused and never reaches the database. */
const request = (given: Partial<MessageRequest> = {}) =>
  aMessageRequest({ channelType: 'PUSH', destination: 'no number', text: 'x', ...given })

const anIntake = () =>
  new Intake({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    billingZone,
    linkBase: 'http://localhost/s',
  })

const HALF = 'x'.repeat(16 * 1024 * 1024)
const OVER_HALF = `${HALF}x`
const push = { contentType: 'push', text: 'x' } as const
const inStep = (given: Partial<MessageRequest>) =>
  request({ cascade: { step: 1, plan: [{ request: request(given), condition: 'not_read', ttlSeconds: 60 }] } })

test.each<[string, MessageRequest]>([
  ['its text', request({ text: OVER_HALF })],
  ['the data of a push', request({ content: { ...push, data: { key: OVER_HALF } } })],
  ['the address of a push', request({ content: { ...push, url: OVER_HALF } })],
  ['its callback address', request({ callbackUrl: OVER_HALF })],
  ['its external id', request({ externalId: OVER_HALF })],
  ['its tags', request({ options: { tags: [HALF, 'x'] } })],
  ['the content of a cascade step', inStep({ content: { ...push, image: OVER_HALF } })],
])('the size of a request includes %s: one such message may wait, and two exceed the limit', async (_, large) => {
  expect(await anIntake().accept(world.companyId, [large])).toMatchObject([{ kind: 'refused' }])
  expect(() => anIntake().accept(world.companyId, [large, large])).toThrow('try again in a moment')
})

test('a plain text is counted once, at two bytes a character', async () => {
  const half = request({ text: HALF })
  expect(await anIntake().accept(world.companyId, [half, half])).toHaveLength(2)
  expect(() => anIntake().accept(world.companyId, [half, half, request()])).toThrow('try again in a moment')
})
