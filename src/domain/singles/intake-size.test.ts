import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aWish } from '../../testing/wishes.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import type { SingleWish } from '../messages/single.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { createIntake } from './intake.ts'

/** How much waits to be written is bounded by what it takes in memory, wherever in a wish that is. */

const db = useDatabase()
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

/** To nobody: taken in and refused, so that nothing of it comes to the database. */
const wish = (given: Partial<SingleWish> = {}) =>
  aWish({ channelType: 'PUSH', destination: 'nobody', text: 'x', ...given })

const anIntake = () =>
  createIntake({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    billingZone,
    linkBase: 'http://localhost/s',
  })

const HALF = 'x'.repeat(16 * 1024 * 1024)
const OVER_HALF = `${HALF}x`
const push = { contentType: 'push', text: 'x' } as const
const inStep = (given: Partial<SingleWish>) =>
  wish({ cascade: { step: 1, plan: [{ wish: wish(given), condition: 'not_read', ttlSeconds: 60 }] } })

test.each<[string, SingleWish]>([
  ['its text', wish({ text: OVER_HALF })],
  ['the data of a push', wish({ content: { ...push, data: { key: OVER_HALF } } })],
  ['the address of a push', wish({ content: { ...push, url: OVER_HALF } })],
  ['its callback address', wish({ callbackUrl: OVER_HALF })],
  ["the client's own id", wish({ externalId: OVER_HALF })],
  ['its tags', wish({ options: { tags: [HALF, 'x'] } })],
  ['what a step of its cascade shows', inStep({ content: { ...push, image: OVER_HALF } })],
])('a wish is as large as %s: one is taken, and two are more than the line holds', async (_, large) => {
  expect(await anIntake().accept(world.companyId, [large])).toMatchObject([{ kind: 'refused' }])
  expect(() => anIntake().accept(world.companyId, [large, large])).toThrow('try again in a moment')
})

test('a plain text is counted once, at two bytes a character', async () => {
  const half = wish({ text: HALF })
  expect(await anIntake().accept(world.companyId, [half, half])).toHaveLength(2)
  expect(() => anIntake().accept(world.companyId, [half, half, wish()])).toThrow('try again in a moment')
})
