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

/** A process whose clock is ahead by `aheadMs`. */
async function aProcess(given: { aheadMs: number }) {
  const lines: { msg: string; offMs: number }[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  const ownClock = () => new Date(Date.now() + given.aheadMs)
  const clock = await DatabaseClock.follow({ sql: db.sql, log, ownClock })
  clocks.push(clock)
  return { clock, lines }
}

test.each([0, 26 * HOUR, -26 * HOUR])(
  'a machine whose clock is %s ms ahead has the time of the database',
  async aheadMs => {
    const { clock } = await aProcess({ aheadMs })
    const before = await databaseNow(db.sql)
    const told = clock.now()
    const after = await databaseNow(db.sql)
    // The time counts for the middle of the round trip, which is never longer than this.
    const slackMs = 1000
    expect(told.getTime()).toBeGreaterThan(before.getTime() - slackMs)
    expect(told.getTime()).toBeLessThan(after.getTime() + slackMs)
  },
)

test('a wrong clock is logged once, and once more when it is right again', async () => {
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
