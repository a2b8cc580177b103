import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { useDatabase } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { DatabaseClock, databaseNow, MOST_OFF_MS } from './clock.ts'

const db = useDatabase()
const clocks: DatabaseClock[] = []
const HOUR = 3600_000

afterEach(async () => {
  await Promise.all(clocks.splice(0).map(clock => clock.stop()))
})

/** A process whose own clock is ahead by what the test says. */
async function aProcess(given: { aheadMs: number }) {
  const lines: { msg: string; offMs: number }[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  const ownClock = () => new Date(Date.now() + given.aheadMs)
  const clock = await DatabaseClock.follow({ sql: db.sql, log, ownClock })
  clocks.push(clock)
  return { clock, lines }
}

test.each([0, 26 * HOUR, -26 * HOUR])('a clock that is %s ms ahead changes nothing', async aheadMs => {
  const { clock } = await aProcess({ aheadMs })
  const before = await databaseNow(db.sql)
  const told = clock.now()
  const after = await databaseNow(db.sql)
  // The answer to a question is dated in the middle of its round trip, which is never longer than this.
  const slackMs = 1000
  expect(told.getTime()).toBeGreaterThan(before.getTime() - slackMs)
  expect(told.getTime()).toBeLessThan(after.getTime() + slackMs)
})

test('a clock that goes wrong is told once, and once again when it is right', async () => {
  const own = { aheadMs: 0 }
  const { clock, lines } = await aProcess(own)
  expect([clock.offMs(), lines]).toEqual([0, []])
  own.aheadMs = -2 * HOUR
  await eventually(() => expect(lines.map(({ msg }) => msg)).toEqual(['clock.off']))
  expect(clock.offMs()).toBe(lines[0]!.offMs)
  expect(Math.abs(lines[0]!.offMs + 2 * HOUR)).toBeLessThan(MOST_OFF_MS)
  own.aheadMs = 0
  await eventually(() => expect(lines.map(({ msg }) => msg)).toEqual(['clock.off', 'clock.right']))
  expect(clock.offMs()).toBe(0)
})
