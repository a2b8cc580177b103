import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import chart from '../../parts/charts/chart.module.css'
import { GridLines } from '../../parts/charts/grid-lines.tsx'
import { useWords } from '../../words/words.ts'
import { LONG, useMoneyFormats } from '../amounts.ts'
import styles from '../money.module.css'
import type { Money } from '../money.ts'
import { curveOf, type Point } from './spending-curve.ts'

const HEIGHT = 264
const EDGE = { left: 56, right: 4, top: 28, bottom: 26 }
const BASE = HEIGHT - EDGE.bottom

/** The accumulated spending of the month and the budget. A screen reader gets the days as a table. */
export default function SpendingChart({ money }: { money: Money }) {
  const { say } = useWords()
  const { ref, width } = useElementSize()
  const [pointed, setPointed] = useState<number>()
  const curve = curveOf(money)
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && <Curve money={money} curve={curve} width={width} pointed={pointed} onPoint={setPointed} />}
      {curve.now.sum === 0 && <p className={chart.chartEmpty}>{say('money.chart.empty')}</p>}
      {pointed !== undefined && curve.days[pointed] && <Tip day={curve.days[pointed]} money={money} />}
      <VisuallyHidden>
        <DaysTable days={curve.days} currency={money.currency} />
      </VisuallyHidden>
    </div>
  )
}

type Curve = ReturnType<typeof curveOf>
type Day = Curve['days'][number]
type CurveProps = {
  money: Money
  curve: Curve
  width: number
  pointed: number | undefined
  onPoint(place: number | undefined): void
}

function Curve({ money, curve, width, pointed, onPoint }: CurveProps) {
  const { say } = useWords()
  const { days, now, forecast } = curve
  const step = (width - EDGE.left - EDGE.right) / money.daysInMonth
  const xOf = (x: number) => EDGE.left + x * step
  const yOf = (sum: number) => BASE - (sum / curve.top) * (BASE - EDGE.top)
  const placeOf = ({ x, sum }: Point) => `${xOf(x).toFixed(1)} ${yOf(sum).toFixed(1)}`
  const line = [{ x: 0, sum: 0 }, ...days].map(placeOf).join(' ')
  const dayAt = (x: number) => {
    const place = Math.floor((x - EDGE.left) / step)
    return place >= 0 && place < days.length ? place : undefined
  }
  const shown = days[pointed ?? -1] ?? now
  const drawn = { money, curve, width, xOf, yOf }
  return (
    <svg
      className={chart.chart}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={say('money.chart.label')}
      onMouseMove={({ nativeEvent }) => onPoint(dayAt(nativeEvent.offsetX))}
      onMouseLeave={() => onPoint(undefined)}
    >
      <Scale {...drawn} />
      <path className={chart.area} d={`M${line}V${BASE}H${EDGE.left}z`} />
      <BudgetLine {...drawn} />
      <path className={chart.line} d={`M${line}`} />
      {forecast && <path className={`${chart.line} ${styles.forecast}`} d={`M${placeOf(now)}L${placeOf(forecast)}`} />}
      <path className={chart.base} d={`M${EDGE.left} ${BASE}.5H${width}`} />
      {now.sum > 0 && <circle className={styles.dot} cx={xOf(shown.x)} cy={yOf(shown.sum)} r={4} />}
      {now.sum > 0 && pointed === undefined && <NowLabel {...drawn} />}
      {forecast?.usedUpOn && <UsedUp {...drawn} at={forecast} on={forecast.usedUpOn} />}
    </svg>
  )
}

type Drawn = { money: Money; curve: Curve; width: number; xOf(x: number): number; yOf(sum: number): number }

const NARROW = 500
/** About the width of the longest label, in pixels. */
const LABEL = 176

function Scale({ money: { daysInMonth, month }, curve: { top, lines }, width, xOf, yOf }: Drawn) {
  const { shortDay, short } = useMoneyFormats()
  const last = `${month.slice(0, 8)}${daysInMonth}`
  return (
    <>
      <GridLines left={EDGE.left} width={width} lines={lines} yOf={yOf} textOf={line => short(line, top)} />
      <text x={EDGE.left} y={HEIGHT - 7}>
        {shortDay(month)}
      </text>
      {(width < NARROW ? [10, 20] : [5, 10, 15, 20, 25]).map(day => (
        <text key={day} x={xOf(day - 0.5)} y={HEIGHT - 7} textAnchor="middle">
          {day}
        </text>
      ))}
      <text x={width} y={HEIGHT - 7} textAnchor="end">
        {shortDay(last)}
      </text>
    </>
  )
}

/** The label of the budget stands opposite the label of the day on which the budget ends. */
function BudgetLine({ money: { budget, currency, daysInMonth }, curve, width, yOf }: Drawn) {
  const { say } = useWords()
  const amount = useLabels(width, currency)
  if (budget === null) return null
  if (!curve.isBudgetInScale)
    return (
      <text className={styles.budgetName} x={width} y={EDGE.top - 12} textAnchor="end">
        {say('money.chart.budgetAbove', { budget: amount(budget) })}
      </text>
    )
  const isLeft = curve.forecast?.usedUpOn !== undefined && curve.forecast.x > daysInMonth / 2
  return (
    <>
      <path className={styles.budget} d={`M${EDGE.left} ${yOf(budget)}H${width}`} />
      <text
        className={styles.budgetName}
        x={isLeft ? EDGE.left : width}
        y={yOf(budget) - 7}
        textAnchor={isLeft ? 'start' : 'end'}
      >
        {say('money.chart.budget', { budget: amount(budget) })}
      </text>
    </>
  )
}

/**
 * The label is above the curve and left of its end. Near the left edge or the budget line it is right of the end and
 * below.
 */
function NowLabel({ money: { budget, currency }, curve: { now }, width, xOf, yOf }: Drawn) {
  const { say } = useWords()
  const amount = useLabels(width, currency)
  const [x, y] = [xOf(now.x), yOf(now.sum)]
  const isNearBudget = budget !== null && y > yOf(budget) && y - yOf(budget) < 28
  const labelWidth = width < NARROW ? LABEL * 0.7 : LABEL
  const isRight = x - EDGE.left < labelWidth || (isNearBudget && width - x > labelWidth)
  const isBelow = (isNearBudget || isRight) && BASE - y > 36
  return (
    <text
      className={styles.strong}
      x={isRight ? x + 8 : x - 8}
      y={!isBelow ? y - 8 : isRight ? y + 18 : y + 30}
      textAnchor={isRight ? 'start' : 'end'}
    >
      {say('money.chart.now', { amount: amount(now.sum) })}
    </text>
  )
}

function UsedUp({ at, on, width, xOf, yOf }: Drawn & { at: Point; on: string }) {
  const { say } = useWords()
  const { day } = useMoneyFormats()
  const [x, y] = [xOf(at.x), yOf(at.sum)]
  const [text, half] = width < NARROW ? [day(on), LABEL / 4] : [say('money.chart.usedUp', { day: day(on) }), LABEL / 2]
  return (
    <>
      <circle className={styles.usedUp} cx={x} cy={y} r={4} />
      <text
        className={styles.strong}
        x={Math.min(Math.max(x, EDGE.left + half), width - half)}
        y={y - 11}
        textAnchor="middle"
      >
        {text}
      </text>
    </>
  )
}

/** Formats amounts in the chart. On a phone, long amounts are short and without kopecks. */
function useLabels(width: number, currency: string) {
  const { money, short, sign } = useMoneyFormats()
  return (amount: number) =>
    width < NARROW && amount >= LONG ? `${short(amount)}\u00a0${sign(currency)}` : money(amount, currency)
}

function Tip({ day, money }: { day: Day; money: Money }) {
  const { say } = useWords()
  const { day: dayName, money: amount } = useMoneyFormats()
  return (
    <div
      className={`${chart.tip} ${day.x > money.daysInMonth / 2 ? chart.tipLeft : chart.tipRight}`}
      aria-hidden="true"
    >
      <b>{dayName(day.day)}</b>
      <div>
        <span>{say('money.chart.onDay')}</span>
        <span>{amount(day.amount, money.currency)}</span>
      </div>
      <div>
        <span>{say('money.chart.sinceFirst')}</span>
        <span>{amount(day.sum, money.currency)}</span>
      </div>
    </div>
  )
}

function DaysTable({ days, currency }: { days: Day[]; currency: string }) {
  const { say } = useWords()
  const { day, money: amount } = useMoneyFormats()
  return (
    <table>
      <caption>{say('money.chart.label')}</caption>
      <thead>
        <tr>
          <th scope="col">{say('money.chart.day')}</th>
          <th scope="col">{say('money.chart.onDay')}</th>
          <th scope="col">{say('money.chart.sinceFirst')}</th>
        </tr>
      </thead>
      <tbody>
        {days.map(one => (
          <tr key={one.day}>
            <th scope="row">{day(one.day)}</th>
            <td>{amount(one.amount, currency)}</td>
            <td>{amount(one.sum, currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
