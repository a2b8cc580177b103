import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import chart from '../parts/chart.module.css'
import { scaleOf } from '../parts/scale.ts'
import { useWords } from '../words/words.ts'
import { useMoneyFormats } from './amounts.ts'
import styles from './money.module.css'
import type { Money } from './money.ts'

const HEIGHT = 264
const EDGE = { left: 52, top: 14, bottom: 26 }

/** A bar for each day of the month until today; readers of a screen get the same as a table. */
export default function SpendingChart({ money }: { money: Money }) {
  const { say } = useWords()
  const { ref, width } = useElementSize()
  const [pointed, setPointed] = useState<number>()
  const { day, money: amount } = useMoneyFormats()
  const at = pointed === undefined ? undefined : money.days[pointed]
  return (
    <div ref={ref} className={styles.chartBox}>
      {width > 0 && <Bars money={money} width={width} pointed={pointed} onPoint={setPointed} />}
      {money.days.every(one => one.amount === 0) && <p className={chart.chartEmpty}>{say('money.chart.empty')}</p>}
      {at && (
        <div
          className={`${chart.tip} ${pointed! > money.daysInMonth / 2 ? chart.tipLeft : chart.tipRight}`}
          aria-hidden="true"
        >
          <b>{day(at.day)}</b>
          <span>{amount(at.amount, money.currency)}</span>
        </div>
      )}
      <VisuallyHidden>
        <table>
          <caption>{say('money.chart.label')}</caption>
          <tbody>
            {money.days.map(one => (
              <tr key={one.day}>
                <th scope="row">{day(one.day)}</th>
                <td>{amount(one.amount, money.currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </div>
  )
}

type BarsProps = { money: Money; width: number; pointed: number | undefined; onPoint(place: number | undefined): void }

function Bars({ money: { days, daysInMonth, month }, width, pointed, onPoint }: BarsProps) {
  const { say } = useWords()
  const { shortDay, number } = useMoneyFormats()
  const base = HEIGHT - EDGE.bottom
  const step = (width - EDGE.left) / daysInMonth
  const bar = Math.max(3, Math.round(step * 0.66))
  const { top, lines } = scaleOf(Math.max(...days.map(({ amount }) => amount)))
  const heightOf = (amount: number) => (amount / top) * (base - EDGE.top)
  const placeAt = (x: number) => {
    const place = Math.floor((x - EDGE.left) / step)
    return place >= 0 && place < days.length ? place : undefined
  }
  return (
    <svg
      className={chart.chart}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={say('money.chart.label')}
      onMouseMove={({ nativeEvent }) => onPoint(placeAt(nativeEvent.offsetX))}
      onMouseLeave={() => onPoint(undefined)}
    >
      {lines.map(line => (
        <g key={line}>
          <path className={chart.grid} d={`M${EDGE.left} ${Math.round(base - heightOf(line))}.5H${width}`} />
          <text x={EDGE.left - 8} y={base - heightOf(line) + 4} textAnchor="end">
            {number(line)}
          </text>
        </g>
      ))}
      {days.map(({ day, amount }, place) => (
        <rect
          key={day}
          className={pointed === place ? styles.pointed : styles.day}
          x={EDGE.left + place * step + (step - bar) / 2}
          y={base - Math.max(amount > 0 ? 1 : 0, heightOf(amount))}
          width={bar}
          height={Math.max(amount > 0 ? 1 : 0, heightOf(amount))}
          rx={1}
        />
      ))}
      <path className={chart.base} d={`M${EDGE.left} ${base}.5H${width}`} />
      {[1, 5, 10, 15, 20, 25, daysInMonth].map(number => (
        <text
          key={number}
          x={EDGE.left + (number - 0.5) * step}
          y={HEIGHT - 7}
          textAnchor={number === daysInMonth ? 'end' : 'middle'}
        >
          {number === 1 ? shortDay(month) : number}
        </text>
      ))}
    </svg>
  )
}
