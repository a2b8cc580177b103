import { useFormats } from '../../format.ts'
import chart from './chart.module.css'

type Props = {
  left: number
  width: number
  lines: number[]
  yOf(value: number): number
  /** The label of a line. Without it, the value as a number. */
  textOf?: (value: number) => string
}

/** Horizontal lines of a chart, each with its value at the left. */
export function GridLines({ left, width, lines, yOf, textOf }: Props) {
  const { number } = useFormats()
  return lines.map(line => (
    <g key={line}>
      <path className={chart.grid} d={`M${left} ${Math.round(yOf(line))}.5H${width}`} />
      <text x={left - 8} y={yOf(line) + 4} textAnchor="end">
        {(textOf ?? number)(line)}
      </text>
    </g>
  ))
}
