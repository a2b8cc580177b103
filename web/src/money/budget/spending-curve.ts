import { scaleOf } from '../../parts/charts/scale.ts'
import type { Money } from '../money.ts'

type Spent = Pick<Money, 'days' | 'daysInMonth' | 'month' | 'budget' | 'free' | 'reserved' | 'pace' | 'forecast'>

/** `x` counts days since the start of the month. The point of a day is in the middle of the day. */
export type Point = { x: number; sum: number }

/**
 * If the spending is a smaller share of the budget, the curve would be a flat line, so the chart scales to the
 * spending.
 */
const LEAST_SHARE = 0.05

/** The accumulated spending after each day of the month, and its forecast. */
export function curveOf(money: Spent) {
  const days = sumsOf(money.days)
  const now = days.at(-1)
  if (!now) throw new Error('A month has at least one day')
  const forecast = forecastFrom(now, money)
  const highest = Math.max(now.sum, forecast?.sum ?? 0)
  const budget = money.budget !== null && (highest === 0 || highest >= money.budget * LEAST_SHARE) ? money.budget : null
  return { days, now, forecast, isBudgetInScale: budget !== null, ...scaleOf(Math.max(highest, budget ?? 0)) }
}

function sumsOf(days: Spent['days']) {
  let sum = 0
  return days.map(({ day, amount }, place) => {
    sum += amount
    return { day, amount, x: place + 0.5, sum }
  })
}

/**
 * The forecast ends on the day without free money, or at the end of the month. Reserved money counts as spent on that
 * day.
 */
function forecastFrom(now: Point, { forecast, month, daysInMonth, reserved, free, pace }: Spent) {
  if (forecast.kind !== 'out' && forecast.kind !== 'lasts') return
  if (forecast.kind === 'out' && forecast.on.slice(0, 7) === month.slice(0, 7))
    return { x: Number(forecast.on.slice(8)) - 0.5, sum: now.sum + reserved + (free ?? 0), usedUpOn: forecast.on }
  const end = daysInMonth - 0.5
  return { x: end, sum: now.sum + pace * (end - now.x) }
}
