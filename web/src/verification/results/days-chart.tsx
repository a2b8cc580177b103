import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { useFormats } from '../../format.ts'
import chart from '../../parts/charts/chart.module.css'
import { GridLines } from '../../parts/charts/grid-lines.tsx'
import { scaleOf } from '../../parts/charts/scale.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import { useNames, type Verification } from '../verification.ts'

type Day = Verification['byDay'][number]

const EDGE = { left: 46, top: 8, bottom: 24 }
const GAP = 1
/** Includes the half by which the last label may move to the left. */
const LABEL_WIDTH = 80

/** Bars of codes by day. A screen reader gets the same numbers as a table. */
export default function DaysChart({ days }: { days: Day[] }) {
  const { say } = useWords()
  const { ref, width, height } = useElementSize()
  const [pointed, setPointed] = useState<number>()
  const day = pointed === undefined ? undefined : days[pointed]
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && <Bars days={days} width={width} height={height} pointed={pointed} onPoint={setPointed} />}
      {days.every(({ sent, confirmed }) => sent + confirmed === 0) && (
        <p className={chart.chartEmpty}>{say('verification.chart.empty')}</p>
      )}
      {day && <Tip day={day} isLeft={days.indexOf(day) >= days.length / 2} />}
      <VisuallyHidden>
        <DaysTable days={days} />
      </VisuallyHidden>
    </div>
  )
}

const unconfirmed = ({ sent, confirmed }: Day) => Math.max(0, sent - confirmed)
const heightIn = (day: Day) => day.confirmed + unconfirmed(day)

type BarsProps = {
  days: Day[]
  width: number
  height: number
  pointed: number | undefined
  onPoint(place: number | undefined): void
}

function Bars({ days, width, height, pointed, onPoint }: BarsProps) {
  const { say } = useWords()
  const scale = scaleIn({ days, width, height })
  const { base, step } = scale
  const placeAt = (x: number) =>
    x < EDGE.left ? undefined : Math.min(days.length - 1, Math.floor((x - EDGE.left) / step))
  return (
    <svg
      className={chart.chart}
      width={width}
      height={height}
      role="img"
      aria-label={say('verification.chart.label')}
      onMouseMove={({ nativeEvent }) => onPoint(placeAt(nativeEvent.offsetX))}
      onMouseLeave={() => onPoint(undefined)}
    >
      <GridLines left={EDGE.left} width={width} lines={scale.lines} yOf={count => base - scale.tall(count)} />
      {days.map((day, place) => (
        <DayBar key={day.day} day={day} place={place} scale={scale} isPointed={pointed === place} />
      ))}
      <path className={chart.base} d={`M${EDGE.left} ${base}.5H${width}`} />
      <DayLabels days={days} step={step} height={height} />
    </svg>
  )
}

type Scale = ReturnType<typeof scaleIn>

function scaleIn({ days, width, height }: Pick<BarsProps, 'days' | 'width' | 'height'>) {
  const base = height - EDGE.bottom
  const { top, lines } = scaleOf(Math.max(...days.map(heightIn)))
  const tall = (count: number) => (count / top) * (base - EDGE.top)
  return { base, lines, tall, step: (width - EDGE.left) / days.length }
}

type DayBarProps = { day: Day; place: number; scale: Scale; isPointed: boolean }

function DayBar({ day, place, scale: { base, step, tall }, isPointed }: DayBarProps) {
  const x = EDGE.left + place * step
  const width = Math.max(1, step * 0.6)
  const bar = { x: x + (step - width) / 2, width, rx: 1 }
  const [confirmed, rest] = [tall(day.confirmed), tall(unconfirmed(day))]
  const above = confirmed > 0 ? confirmed + GAP : 0
  return (
    <g>
      <rect
        className={isPointed ? chart.pointed : chart.column}
        x={x}
        y={EDGE.top}
        width={step}
        height={base - EDGE.top}
      />
      <rect className={styles.confirmed} {...bar} y={base - confirmed} height={confirmed} />
      <rect className={styles.sentOnly} {...bar} y={base - above - rest} height={rest} />
    </g>
  )
}

/** Labels as many days as fit, counted from the last day. */
function DayLabels({ days, step, height }: { days: Day[]; step: number; height: number }) {
  const names = useNames()
  const every = Math.ceil(LABEL_WIDTH / step)
  const isLast = (place: number) => place === days.length - 1
  return days.map(
    ({ day }, place) =>
      (days.length - 1 - place) % every === 0 && (
        <text
          key={day}
          x={EDGE.left + (place + 0.5) * step}
          y={height - 6}
          textAnchor={isLast(place) && step < LABEL_WIDTH / 2 ? 'end' : 'middle'}
          className={isLast(place) ? chart.day : undefined}
        >
          {names.day(day)}
        </text>
      ),
  )
}

function Tip({ day, isLeft }: { day: Day; isLeft: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const names = useNames()
  return (
    <div className={`${chart.tip} ${isLeft ? chart.tipLeft : chart.tipRight}`} aria-hidden="true">
      <b>{names.day(day.day)}</b>
      <div>
        <i className={styles.confirmed} />
        <span>{say('verification.chart.confirmed')}</span>
        <span>{number(day.confirmed)}</span>
      </div>
      <div>
        <i className={styles.sentOnly} />
        <span>{say('verification.chart.sentOnly')}</span>
        <span>{number(unconfirmed(day))}</span>
      </div>
    </div>
  )
}

function DaysTable({ days }: { days: Day[] }) {
  const { say } = useWords()
  const { number } = useFormats()
  const names = useNames()
  return (
    <table>
      <caption>{say('verification.chart.label')}</caption>
      <thead>
        <tr>
          <th scope="col">{say('verification.chart.day')}</th>
          <th scope="col">{say('verification.column.sent')}</th>
          <th scope="col">{say('verification.chart.confirmed')}</th>
        </tr>
      </thead>
      <tbody>
        {days.map(({ day, sent, confirmed }) => (
          <tr key={day}>
            <th scope="row">{names.day(day)}</th>
            <td>{number(sent)}</td>
            <td>{number(confirmed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
