import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aMessageRequest } from '../../testing/message-requests.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import type { MessageRequest } from '../messages/single.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { Intake } from './intake.ts'

/** The messages that wait to be written are limited by their size in memory, in whichever field it is. */

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
  ["the client's own id", request({ externalId: OVER_HALF })],
  ['its tags', request({ options: { tags: [HALF, 'x'] } })],
  ['what a step of its cascade shows', inStep({ content: { ...push, image: OVER_HALF } })],
])('a request is as large as %s: one is taken, and two are more than the line holds', async (_, large) => {
  expect(await anIntake().accept(world.companyId, [large])).toMatchObject([{ kind: 'refused' }])
  expect(() => anIntake().accept(world.companyId, [large, large])).toThrow('try again in a moment')
})

test('a plain text is counted once, at two bytes a character', async () => {
  const half = request({ text: HALF })
  expect(await anIntake().accept(world.companyId, [half, half])).toHaveLength(2)
  expect(() => anIntake().accept(world.companyId, [half, half, request()])).toThrow('try again in a moment')
})
