import { expect, test } from 'vitest'
import { chartOf, daysAt, sentBetween, withoutResult } from './days.ts'

const hour = (time: string, sent: number, delivered = 0, failed = 0) => ({
  hour: new Date(`${time}:00:00Z`),
  sent,
  delivered,
  failed,
})

test('a day is one of the billing zone', () => {
  const days = daysAt(new Date('2026-03-01T22:30:00Z'), 'Europe/Moscow')
  expect(days).toMatchObject({
    today: new Date('2026-03-01T21:00:00Z'),
    yesterday: new Date('2026-02-28T21:00:00Z'),
    weekBefore: new Date('2026-02-22T21:00:00Z'),
    firstHour: new Date('2026-02-28T23:00:00Z'),
    month: '2026-03-01',
    monthBefore: '2026-02-01',
    dayOfMonth: 2,
    daysInMonth: 31,
    daysInMonthBefore: 28,
  })
})

test('a day begins at midnight also where the clock was put forward since', () => {
  const { today, yesterday } = daysAt(new Date('2026-03-29T10:00:00Z'), 'Europe/Berlin')
  expect([today, yesterday]).toEqual([new Date('2026-03-28T23:00:00Z'), new Date('2026-03-27T23:00:00Z')])
})

test('of an hour that has not passed only the part until now is compared', () => {
  const hours = [hour('2026-03-01T10', 100), hour('2026-03-01T11', 60), hour('2026-03-01T12', 1000)]
  const until = new Date('2026-03-01T11:30:00Z')
  expect(sentBetween(hours, new Date('2026-03-01T10:00:00Z'), until)).toBe(130)
  expect(sentBetween(hours, new Date('2026-03-01T11:00:00Z'), until)).toBe(30)
})

test('results belong to the messages that were sent first, and the rest is on the way', () => {
  const hours = [hour('2026-03-01T10', 100, 40, 10), hour('2026-03-01T11', 60, 40), hour('2026-03-01T12', 5, 0, 0)]
  expect([...withoutResult(hours).values()]).toEqual([10, 60, 5])
})

test('messages that failed before they were sent never make a number negative', () => {
  const hours = [hour('2026-03-01T10', 0, 0, 500), hour('2026-03-01T11', 60, 20)]
  expect([...withoutResult(hours).values()]).toEqual([40])
})

test('the chart has 24 hours, the empty ones too, and ends with the present one', () => {
  const days = daysAt(new Date('2026-03-01T12:34:00Z'), 'Europe/Moscow')
  const chart = chartOf([hour('2026-02-20T10', 7, 7), hour('2026-03-01T11', 60, 20, 3)], days)
  expect(chart).toHaveLength(24)
  expect(chart.at(-1)!.hour).toEqual(new Date('2026-03-01T12:00:00Z'))
  expect(chart.filter(({ delivered }) => delivered > 0)).toEqual([
    { hour: new Date('2026-03-01T11:00:00Z'), delivered: 20, onTheWay: 37, failed: 3 },
  ])
})
