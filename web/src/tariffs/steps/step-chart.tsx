import { useElementSize } from '@mantine/hooks'
import { useFormats } from '../../format.ts'
import chart from '../../parts/charts/chart.module.css'
import { useWords } from '../../words/words.ts'
import { useTariffFormats } from '../names.ts'
import styles from '../tariffs.module.css'
import type { Step } from '../tariffs.ts'

type Mark = { name: string; count: number }
type Props = { steps: Step[]; marks: Mark[]; zone: string }

const EDGE = { left: 4, right: 4, top: 28, bottom: 28 }
const HEIGHT = 208

/** The price by the count of the month. All steps have the same width, because their counts differ by powers of ten. */
export function StepChart({ steps, marks, zone }: Props) {
  const { ref, width } = useElementSize()
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && <Drawing steps={steps} marks={marks} zone={zone} width={width} />}
    </div>
  )
}

function Drawing({ steps, marks, zone, width }: Props & { width: number }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { price } = useTariffFormats(zone)
  const base = HEIGHT - EDGE.bottom
  const stepWidth = (width - EDGE.left - EDGE.right) / steps.length
  const highest = Math.max(...steps.map(step => step.price), 0.0001)
  const yOf = (value: number) => base - (value / highest) * (base - EDGE.top)
  const xOf = (place: number) => EDGE.left + place * stepWidth
  const first = marks[0]
  return (
    <svg className={chart.chart} width={width} height={HEIGHT} role="img" aria-label={say('tariffs.chart')}>
      <path className={chart.base} d={`M0 ${base}.5H${width}`} />
      {steps.map((step, place) => (
        <g key={step.from}>
          <rect
            className={chart.area}
            x={xOf(place)}
            y={yOf(step.price)}
            width={stepWidth}
            height={base - yOf(step.price)}
          />
          <path
            className={chart.line}
            d={lineOf(step, steps[place + 1], { left: xOf(place), right: xOf(place + 1), yOf })}
          />
          <text className={styles.price} x={xOf(place) + 6} y={yOf(step.price) - 8}>
            {price(step.price)}
          </text>
          <text x={xOf(place)} y={HEIGHT - 8}>
            {number(step.from)}
          </text>
        </g>
      ))}
      {marks.map(mark => (
        <path
          key={mark.name}
          className={mark === first ? styles.mark : styles.otherMark}
          d={`M${Math.round(xOf(placeOf(steps, mark.count)))}.5 ${EDGE.top - 4}V${base}`}
        />
      ))}
      {first && (
        <text
          className={styles.markName}
          x={xOf(placeOf(steps, first.count))}
          y={EDGE.top - 12}
          textAnchor={anchorOf(placeOf(steps, first.count) / steps.length)}
        >
          {say('tariffs.mark', { count: first.count })}
        </text>
      )}
    </svg>
  )
}

/** A line along the step, and a vertical line to the next step. */
function lineOf(
  step: Step,
  next: Step | undefined,
  { left, right, yOf }: { left: number; right: number; yOf(price: number): number },
) {
  return `M${left} ${yOf(step.price)}H${right}${next ? `V${yOf(next.price)}` : ''}`
}

/**
 * The position of a count in steps from the left. Within a step: by the share of the step. In the last step: by the
 * ratio of the count to the start of the step.
 */
export function placeOf(steps: Pick<Step, 'from'>[], count: number): number {
  const place = Math.max(
    0,
    steps.findLastIndex(({ from }) => from <= count),
  )
  const [from, next] = [steps[place]?.from ?? 0, steps[place + 1]?.from]
  if (next !== undefined) return place + (Math.max(count, from) - from) / (next - from)
  return place + 1 - Math.max(from, 100) / (Math.max(from, 100) + Math.max(0, count - from))
}

const anchorOf = (share: number) => (share < 0.2 ? 'start' : share > 0.8 ? 'end' : 'middle')
