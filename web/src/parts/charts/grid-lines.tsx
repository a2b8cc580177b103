import { useFormats } from '../../format.ts'
import chart from './chart.module.css'

type Props = {
  left: number
  width: number
  base: number
  lines: number[]
  /** The height of a count in pixels. */
  tall(count: number): number
}

/** Horizontal lines of a chart, each with its count at the left. */
export function GridLines({ left, width, base, lines, tall }: Props) {
  const { number } = useFormats()
  return lines.map(line => (
    <g key={line}>
      <path className={chart.grid} d={`M${left} ${Math.round(base - tall(line))}.5H${width}`} />
      <text x={left - 8} y={base - tall(line) + 4} textAnchor="end">
        {number(line)}
      </text>
    </g>
  ))
}
