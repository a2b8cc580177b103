import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useFormats } from '../format.ts'
import { scaleOf } from '../parts/scale.ts'
import { Section } from '../parts/section.tsx'
import { useWords } from '../words/words.ts'
import { useFigures } from './figures.ts'
import type { PacePoint } from './speed.ts'
import styles from './speed-chart.module.css'

const HEIGHT = 168
const EDGE = { left: 40, top: 8, right: 4, bottom: 24 }
const BASE = HEIGHT - EDGE.bottom
/** Fewer say less than the figures above. */
const FEWEST_POINTS = 4

/** Messages a second since the first one was sent, drawn for the width at hand; readers of a screen get a table. */
export function SpeedChart({ pace, isLive }: { pace: PacePoint[]; isLive: boolean }) {
  const { say } = useWords()
  const { ref, width } = useElementSize()
  if (pace.length < FEWEST_POINTS) return null
  return (
    <Section title={say('dispatch.pace')} note={say('dispatch.pace.note')}>
      <div ref={ref} className={styles.box}>
        {width > 0 && <Line pace={pace} width={width} isLive={isLive} />}
        <VisuallyHidden>
          <PaceTable pace={pace} />
        </VisuallyHidden>
      </div>
    </Section>
  )
}

function Line({ pace, width, isLive }: { pace: PacePoint[]; width: number; isLive: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const timeOf = useTimes(pace)
  const { top, lines } = scaleOf(Math.max(...pace.map(({ perSecond }) => perSecond)))
  const x = (place: number) => EDGE.left + (place / (pace.length - 1)) * (width - EDGE.left - EDGE.right)
  const y = (perSecond: number) => BASE - (perSecond / top) * (BASE - EDGE.top)
  const line = pace.map(({ perSecond }, place) => `${x(place).toFixed(1)} ${y(perSecond).toFixed(1)}`).join(' ')
  const last = pace.length - 1
  return (
    <svg className={styles.chart} width={width} height={HEIGHT} role="img" aria-label={say('dispatch.pace.label')}>
      {lines.map(value => (
        <g key={value}>
          <path className={styles.grid} d={`M${EDGE.left} ${Math.round(y(value))}.5H${width}`} />
          <text x={EDGE.left - 8} y={y(value) + 4} textAnchor="end">
            {number(value)}
          </text>
        </g>
      ))}
      <path className={styles.area} d={`M${x(0)} ${BASE}L${line} ${x(last)} ${BASE}z`} />
      <path className={styles.line} d={`M${line}`} />
      <path className={styles.base} d={`M${EDGE.left} ${BASE}.5H${width}`} />
      {isLive && <circle className={styles.dot} cx={x(last)} cy={y(pace[last]!.perSecond)} r={4} />}
      {labelsOf(last, width < 500 ? 2 : 4).map((place, i, all) => (
        <text key={place} x={x(place)} y={HEIGHT - 6} textAnchor={i === 0 ? 'start' : anchorOf(i, all.length)}>
          {timeOf(pace[place]!)}
        </text>
      ))}
    </svg>
  )
}

const anchorOf = (place: number, count: number) => (place === count - 1 ? 'end' : 'middle')

/** Places of the points whose time is written below, the first and the last among them. */
const labelsOf = (last: number, most: number) => [
  ...new Set(Array.from({ length: most }, (_, i) => Math.round((i * last) / (most - 1)))),
]

const DAY_MS = 86_400_000
const SHORT_MS = 600_000

/** With seconds where the run is short, with the day where it is long. */
function useTimes(pace: PacePoint[]) {
  const { clock, moment } = useFigures()
  const { time } = useFormats()
  const lasts = pace.at(-1)!.at.getTime() - pace[0]!.at.getTime()
  const format = lasts > DAY_MS ? moment : lasts < SHORT_MS ? time : clock
  return ({ at }: PacePoint) => format(at)
}

function PaceTable({ pace }: { pace: PacePoint[] }) {
  const { say } = useWords()
  const { number } = useFormats()
  const timeOf = useTimes(pace)
  return (
    <table>
      <caption>{say('dispatch.pace.label')}</caption>
      <thead>
        <tr>
          <th scope="col">{say('dispatch.pace.time')}</th>
          <th scope="col">{say('dispatch.pace')}</th>
        </tr>
      </thead>
      <tbody>
        {pace.map(point => (
          <tr key={point.at.getTime()}>
            <th scope="row">{timeOf(point)}</th>
            <td>{number(Math.round(point.perSecond * 10) / 10)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
