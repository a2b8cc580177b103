import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { useFormats } from '../format.ts'
import chart from '../parts/charts/chart.module.css'
import { GridLines } from '../parts/charts/grid-lines.tsx'
import { useWords } from '../words/words.ts'
import styles from './gateways.module.css'
import type { Gateway } from './gateways.ts'

const MINUTE_MS = 60_000
const MINUTES = 60

type Minute = { at: number; parts: number; errors: number }

/** Every minute of the hour before `at`, the oldest first. The server sends only minutes with traffic. */
function minutesOf(hour: Gateway['hour'], at: string): Minute[] {
  const last = Math.floor(Date.parse(at) / MINUTE_MS) * MINUTE_MS
  const rows = new Map(hour.map(row => [Date.parse(row.minute), row]))
  return Array.from({ length: MINUTES }, (_, place) => {
    const minute = last - (MINUTES - 1 - place) * MINUTE_MS
    const { parts = 0, errors = 0 } = rows.get(minute) ?? {}
    return { at: minute, parts, errors }
  })
}

/** A small line for the list of gateways. The page of the gateway has the numbers. */
export function Spark({ hour, at, standing }: Pick<Gateway, 'hour' | 'standing'> & { at: string }) {
  const five = Array.from({ length: MINUTES / 5 }, (_, place) =>
    minutesOf(hour, at)
      .slice(place * 5, place * 5 + 5)
      .reduce((sum, { parts }) => sum + parts, 0),
  )
  const top = Math.max(1, ...five)
  const points = five.map((parts, place) => `${1 + place * 7.8} ${22 - (parts / top) * 20}`)
  return (
    <svg className={`${styles.spark} ${styles[standing]}`} viewBox="0 0 88 24" aria-hidden="true">
      <path d={`M${points.join('L')}`} />
    </svg>
  )
}

const HEIGHT = 132
const EDGE = { left: 46, top: 8, bottom: 22 }

/** The parts of each minute. A screen reader gets the sum and the busiest minute. */
export function HourChart({ hour, at }: { hour: Gateway['hour']; at: string }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { ref, width } = useElementSize()
  const [pointed, setPointed] = useState<number>()
  const minutes = minutesOf(hour, at)
  const sum = minutes.reduce((total, { parts }) => total + parts, 0)
  const highest = highestOf(minutes)
  const shown = pointed === undefined ? undefined : minutes[pointed]
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && <Bars minutes={minutes} width={width} pointed={pointed} onPoint={setPointed} />}
      {shown && <Tip minute={shown} isLeft={minutes.indexOf(shown) >= MINUTES / 2} />}
      {sum === 0 && highest === 0 && <p className={chart.chartEmpty}>{say('gateway.chart.empty')}</p>}
      <VisuallyHidden>{say('gateway.chart.sum', { sum: number(sum), most: number(highest) })}</VisuallyHidden>
    </div>
  )
}

const highestOf = (minutes: Minute[]) => Math.max(...minutes.map(({ parts, errors }) => Math.max(parts, errors)))

type BarsProps = {
  minutes: Minute[]
  width: number
  pointed: number | undefined
  onPoint(place: number | undefined): void
}

function Bars({ minutes, width, pointed, onPoint }: BarsProps) {
  const top = roundAbove(highestOf(minutes))
  const base = HEIGHT - EDGE.bottom
  const step = (width - EDGE.left) / MINUTES
  const tall = (count: number) => (count / top) * (base - EDGE.top)
  const bar = { x: step * 0.15, width: step * 0.7, base }
  const placeAt = (x: number) => (x < EDGE.left ? undefined : Math.min(MINUTES - 1, Math.floor((x - EDGE.left) / step)))
  return (
    <svg
      className={chart.chart}
      width={width}
      height={HEIGHT}
      aria-hidden="true"
      onMouseMove={({ nativeEvent }) => onPoint(placeAt(nativeEvent.offsetX))}
      onMouseLeave={() => onPoint(undefined)}
    >
      <GridLines left={EDGE.left} width={width} lines={[top / 2, top]} yOf={count => base - tall(count)} />
      {minutes.map(({ at, parts, errors }, place) => (
        <g key={at} transform={`translate(${EDGE.left + place * step} 0)`}>
          {pointed === place && <rect className={chart.pointed} y={EDGE.top} width={step} height={base - EDGE.top} />}
          <Bar className={styles.parts} {...bar} height={tall(parts)} />
          <Bar className={styles.errors} {...bar} height={tall(errors)} />
        </g>
      ))}
      <path className={chart.base} d={`M${EDGE.left} ${base}.5H${width}`} />
      <TimeLabels minutes={minutes} step={step} width={width} />
    </svg>
  )
}

/** The time of every fifteenth minute. */
function TimeLabels({ minutes, step, width }: { minutes: Minute[]; step: number; width: number }) {
  const clock = useClock()
  return minutes.map(({ at }, place) =>
    new Date(at).getMinutes() % 15 === 0 ? (
      <text key={at} {...labelPlace(EDGE.left + (place + 0.5) * step, width)} y={HEIGHT - 5}>
        {clock(at)}
      </text>
    ) : null,
  )
}

function Tip({ minute: { at, parts, errors }, isLeft }: { minute: Minute; isLeft: boolean }) {
  const { say } = useWords()
  const clock = useClock()
  return (
    <div className={`${chart.tip} ${isLeft ? chart.tipLeft : chart.tipRight}`} aria-hidden="true">
      <b>{clock(at)}</b>
      <span>{say('gateway.chart.parts', { count: parts })}</span>
      {errors > 0 && <span>{say('gateway.chart.errors', { count: errors })}</span>}
    </div>
  )
}

function useClock() {
  const { time } = useFormats()
  return (moment: number) => time(new Date(moment)).slice(0, 5)
}

const HALF_LABEL = 18

/** Centred on the minute, but inside of the chart. */
const labelPlace = (x: number, width: number) =>
  x + HALF_LABEL > width ? ({ x: width, textAnchor: 'end' } as const) : ({ x, textAnchor: 'middle' } as const)

type BarProps = { className: string | undefined; x: number; width: number; base: number; height: number }

const Bar = ({ className, x, width, base, height }: BarProps) =>
  height === 0 ? null : (
    <rect
      className={className}
      x={x}
      y={base - Math.max(1, height)}
      width={width}
      height={Math.max(1, height)}
      rx={1}
    />
  )

/** The next even, round number. */
function roundAbove(highest: number): number {
  if (highest <= 2) return 2
  const size = 10 ** Math.floor(Math.log10(highest))
  return [1, 2, 4, 6, 8, 10].map(times => times * size).find(round => round >= highest && round % 2 === 0) ?? highest
}
