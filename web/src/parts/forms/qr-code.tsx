import qrcode from 'qrcode-generator'

const CELL = 4
/** Scanners need a light border of four cells. */
const EDGE = 4

/** Dark on light in both themes, because some scanners read nothing else. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const count = code.getModuleCount() + 2 * EDGE
  return (
    <svg
      role="img"
      aria-label={label}
      width={count * CELL}
      height={count * CELL}
      viewBox={`0 0 ${count} ${count}`}
      shapeRendering="crispEdges"
    >
      <rect width={count} height={count} rx="2" fill="#fff" />
      <path d={cellsOf(code)} fill="#000" />
    </svg>
  )
}

function cellsOf(code: ReturnType<typeof qrcode>): string {
  const numbers = Array.from({ length: code.getModuleCount() }, (_, i) => i)
  return numbers
    .flatMap(row =>
      numbers.filter(column => code.isDark(row, column)).map(column => `M${column + EDGE} ${row + EDGE}h1v1h-1z`),
    )
    .join('')
}
