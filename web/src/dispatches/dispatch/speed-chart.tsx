import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useFormats } from '../../format.ts'
import chart from '../../parts/charts/chart.module.css'
import { GridLines } from '../../parts/charts/grid-lines.tsx'
import { scaleOf } from '../../parts/charts/scale.ts'
import { Section } from '../../parts/content/section.tsx'
import { useWords } from '../../words/words.ts'
import { useFigures } from '../figures.ts'
import type { PacePoint } from './speed.ts'
import styles from './speed-chart.module.css'

const HEIGHT = 168
const EDGE = { left: 40, top: 8, right: 4, bottom: 24 }
const BASE = HEIGHT - EDGE.bottom
/** Slower speeds are shown per minute. */
const FAST = 3
/** A chart of fewer points says less than the figures above. */
const FEWEST_POINTS = 4

/** Messages per second since the first message, drawn for the available width. Screen readers get a table. */
export function SpeedChart({ pace, isLive }: { pace: PacePoint[]; isLive: boolean }) {
  const { say } = useWords()
  const { ref, width } = useElementSize()
  if (pace.length < FEWEST_POINTS) return null
  const isFast = pace.some(({ perSecond }) => perSecond >= FAST)
  const points = pace.map(({ at, perSecond }) => ({ at, speed: isFast ? perSecond : perSecond * 60 }))
  const label = say(isFast ? 'dispatch.pace.label.second' : 'dispatch.pace.label.minute')
  return (
    <Section title={say('dispatch.pace')} note={say(isFast ? 'dispatch.pace.second' : 'dispatch.pace.minute')}>
      <div ref={ref} className={styles.box}>
        {width > 0 && <Line points={points} label={label} width={width} isLive={isLive} />}
        <VisuallyHidden>
          <PaceTable points={points} label={label} />
        </VisuallyHidden>
      </div>
    </Section>
  )
}

type Point = { at: Date; speed: number }

function Line({ points, label, width, isLive }: { points: Point[]; label: string; width: number; isLive: boolean }) {
  const timeOf = useTimes(points)
  const { top, lines } = scaleOf(Math.max(...points.map(({ speed }) => speed)))
  const x = (place: number) => EDGE.left + (place / (points.length - 1)) * (width - EDGE.left - EDGE.right)
  const y = (speed: number) => BASE - (speed / top) * (BASE - EDGE.top)
  const line = points.map(({ speed }, place) => `${x(place).toFixed(1)} ${y(speed).toFixed(1)}`).join(' ')
  const last = points.length - 1
  return (
    <svg className={chart.chart} width={width} height={HEIGHT} role="img" aria-label={label}>
      <GridLines left={EDGE.left} width={width} lines={lines} yOf={y} />
      <path className={styles.area} d={`M${x(0)} ${BASE}L${line} ${x(last)} ${BASE}z`} />
      <path className={styles.line} d={`M${line}`} />
      <path className={chart.base} d={`M${EDGE.left} ${BASE}.5H${width}`} />
      {isLive && <circle className={styles.dot} cx={x(last)} cy={y(points[last]?.speed ?? 0)} r={4} />}
      {labelsOf(last, width < 500 ? 2 : 4).map((place, i, all) => (
        <text key={place} x={x(place)} y={HEIGHT - 6} textAnchor={i === 0 ? 'start' : anchorOf(i, all.length)}>
          {timeOf(points[place])}
        </text>
      ))}
    </svg>
  )
}

const anchorOf = (place: number, count: number) => (place === count - 1 ? 'end' : 'middle')

/** The indexes of points with a time label, including the first and the last. */
const labelsOf = (last: number, most: number) => [
  ...new Set(Array.from({ length: most }, (_, i) => Math.round((i * last) / (most - 1)))),
]

const DAY_MS = 86_400_000
const SHORT_MS = 600_000

/** With seconds for a short time span, with the day for a long one. */
function useTimes(points: Point[]) {
  const { clock } = useFigures()
  const { moment, time } = useFormats()
  const [first, last] = [points[0], points.at(-1)]
  const lasts = first && last ? last.at.getTime() - first.at.getTime() : 0
  const format = lasts > DAY_MS ? moment : lasts < SHORT_MS ? time : clock
  return (point: Point | undefined) => (point ? format(point.at) : '')
}

function PaceTable({ points, label }: { points: Point[]; label: string }) {
  const { say } = useWords()
  const { number } = useFormats()
  const timeOf = useTimes(points)
  return (
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{say('dispatch.pace.time')}</th>
          <th scope="col">{say('dispatch.pace')}</th>
        </tr>
      </thead>
      <tbody>
        {points.map(point => (
          <tr key={point.at.getTime()}>
            <th scope="row">{timeOf(point)}</th>
            <td>{number(Math.round(point.speed * 10) / 10)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
