import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { useFormats } from '../format.ts'
import chart from '../parts/charts/chart.module.css'
import { GridLines } from '../parts/charts/grid-lines.tsx'
import { scaleOf } from '../parts/charts/scale.ts'
import { useWords } from '../words/words.ts'
import { type Clock, useClock } from './clock.ts'
import styles from './overview.module.css'
import type { Overview } from './overview.ts'

type Hour = Overview['hours'][number]

const HOUR_MS = 3_600_000
const statuses = ['delivered', 'onTheWay', 'failed'] as const
const EDGE = { left: 46, top: 8, bottom: 24 }
const GAP = 1

/** Bars of the last 24 hours, drawn for the available width. Screen readers get a table. */
export default function HoursChart({ hours, zone }: { hours: Hour[]; zone: string }) {
  const { say } = useWords()
  const { ref, width, height } = useElementSize()
  const [pointed, setPointed] = useState<number>()
  const hour = hours[pointed ?? -1]
  const isEmpty = hours.every(hour => totalOf(hour) === 0)
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && (
        <Bars hours={hours} zone={zone} width={width} height={height} pointed={pointed} onPoint={setPointed} />
      )}
      {isEmpty && <p className={chart.chartEmpty}>{say('overview.chart.empty')}</p>}
      {hour && (
        <Tip
          hour={hour}
          zone={zone}
          isLast={pointed === hours.length - 1}
          isLeft={(pointed ?? 0) >= hours.length / 2}
        />
      )}
      <VisuallyHidden>
        <HoursTable hours={hours} zone={zone} />
      </VisuallyHidden>
    </div>
  )
}

type BarsProps = {
  hours: Hour[]
  zone: string
  width: number
  height: number
  pointed: number | undefined
  onPoint(place: number | undefined): void
}

function Bars({ hours, zone, width, height, pointed, onPoint }: BarsProps) {
  const { say } = useWords()
  const base = height - EDGE.bottom
  const step = (width - EDGE.left) / hours.length
  const { top, lines } = scaleOf(Math.max(...hours.map(totalOf)))
  const heightOf = (count: number) => (count / top) * (base - EDGE.top)
  const placeAt = (x: number) =>
    x < EDGE.left ? undefined : Math.min(hours.length - 1, Math.floor((x - EDGE.left) / step))
  return (
    <svg
      className={chart.chart}
      width={width}
      height={height}
      role="img"
      aria-label={say('overview.chart.label')}
      onMouseMove={({ nativeEvent }) => onPoint(placeAt(nativeEvent.offsetX))}
      onMouseLeave={() => onPoint(undefined)}
    >
      <GridLines left={EDGE.left} width={width} lines={lines} yOf={count => base - heightOf(count)} />
      {hours.map((hour, place) => (
        <HourBar
          key={hour.hour}
          hour={hour}
          x={EDGE.left + place * step}
          base={base}
          step={step}
          isPointed={pointed === place}
          heightOf={heightOf}
        />
      ))}
      <path className={chart.base} d={`M${EDGE.left} ${base}.5H${width}`} />
      <Labels hours={hours} zone={zone} step={step} y={height - 6} isNarrow={width < 500} />
    </svg>
  )
}

type HourBarProps = {
  hour: Hour
  x: number
  base: number
  step: number
  isPointed: boolean
  heightOf(count: number): number
}

function HourBar({ hour, x, base, step, isPointed, heightOf }: HourBarProps) {
  const width = Math.round(step * 0.66)
  return (
    <g>
      <rect
        className={isPointed ? chart.pointed : chart.column}
        x={x}
        y={EDGE.top}
        width={step}
        height={base - EDGE.top}
      />
      {piecesOf(hour, heightOf).map(({ status, y, height }) => (
        <rect
          key={status}
          className={styles[status]}
          x={x + (step - width) / 2}
          y={base - y - height}
          width={width}
          height={height}
          rx={1}
        />
      ))}
    </g>
  )
}

type LabelsProps = { hours: Hour[]; zone: string; step: number; y: number; isNarrow: boolean }

function Labels({ hours, zone, step, y, isNarrow }: LabelsProps) {
  const clock = useClock(zone)
  return labelsOf(hours, clock, isNarrow ? 6 : 3).map(({ place, text, isDay }) => (
    <text
      key={place}
      className={isDay ? chart.day : undefined}
      x={EDGE.left + (place + 0.5) * step}
      y={y}
      textAnchor={place > hours.length - 2 ? 'end' : 'middle'}
    >
      {text}
    </text>
  ))
}

const totalOf = ({ delivered, onTheWay, failed }: Hour) => delivered + onTheWay + failed

/** The pieces of a bar from the base upwards, with gaps. A piece is at least one pixel high. */
function piecesOf(hour: Hour, heightOf: (count: number) => number) {
  let y = 0
  return statuses.flatMap(status => {
    if (hour[status] === 0) return []
    const height = Math.max(1, heightOf(hour[status]) - (y > 0 ? GAP : 0))
    const piece = { status, y: y > 0 ? y + GAP : 0, height }
    y = piece.y + height
    return [piece]
  })
}

/** Labels of every third or sixth hour. Midnight shows the day. */
function labelsOf(hours: Hour[], clock: Clock, every: number) {
  return hours.flatMap(({ hour }, place) => {
    const time = clock.time(hour)
    const isDay = clock.isMidnight(hour)
    if (!isDay && Number(time.slice(0, 2)) % every !== 0) return []
    return [{ place, text: isDay ? clock.day(hour) : time, isDay }]
  })
}

function Tip({ hour, zone, isLast, isLeft }: { hour: Hour; zone: string; isLast: boolean; isLeft: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const span = useSpan(zone)
  return (
    <div className={`${chart.tip} ${isLeft ? chart.tipLeft : chart.tipRight}`} aria-hidden="true">
      <b>{span(hour, isLast)}</b>
      {statuses.map(status => (
        <div key={status}>
          <i className={`${styles.key} ${styles[status]}`} />
          <span>{say(`overview.status.${status}`)}</span>
          <span>{number(hour[status])}</span>
        </div>
      ))}
    </div>
  )
}

function useSpan(zone: string) {
  const { say } = useWords()
  const { day, time } = useClock(zone)
  return ({ hour }: Hour, isLast: boolean) => {
    const from = time(hour)
    const to = time(new Date(Date.parse(hour) + HOUR_MS))
    return `${day(hour)}, ${isLast ? say('overview.chart.now', { from }) : say('overview.chart.span', { from, to })}`
  }
}

function HoursTable({ hours, zone }: { hours: Hour[]; zone: string }) {
  const { say } = useWords()
  const { number } = useFormats()
  const span = useSpan(zone)
  return (
    <table>
      <caption>{say('overview.chart.label')}</caption>
      <thead>
        <tr>
          <th scope="col">{say('overview.chart.hour')}</th>
          {statuses.map(status => (
            <th key={status} scope="col">
              {say(`overview.status.${status}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {hours.map((hour, place) => (
          <tr key={hour.hour}>
            <th scope="row">{span(hour, place === hours.length - 1)}</th>
            {statuses.map(status => (
              <td key={status}>{number(hour[status])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
