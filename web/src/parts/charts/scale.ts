/** The vertical scale of a chart: its top is a round number above the highest value, with lines at the thirds. */
export function scaleOf(highest: number): { top: number; lines: number[] } {
  if (highest <= 3) return { top: 3, lines: [1, 2, 3] }
  const size = 10 ** Math.floor(Math.log10(highest / 3))
  const line = [1, 2, 3, 4, 5, 6, 8].map(times => times * size).find(line => line * 3 >= highest) ?? 10 * size
  return { top: line * 3, lines: [line, line * 2, line * 3] }
}
