/** How a workbook shows the number of a cell, limited to formats that messages need. */
export type CellFormat =
  | { kind: 'general' }
  | { kind: 'date'; hasDay: boolean; hasTime: boolean }
  | { kind: 'number'; decimals: number; isPercent: boolean; leastDigits: number }

const general: CellFormat = { kind: 'general' }

/** Formats that are built into every workbook. */
const builtIn: Record<number, string> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  14: 'dd.mm.yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
}

/** The formats of cells by style number, from `styles.xml`. */
export function readCellFormats(styles: string): CellFormat[] {
  const codes = new Map(Object.entries(builtIn).map(([id, code]) => [Number(id), code]))
  for (const [tag] of styles.matchAll(/<(?:\w+:)?numFmt\b[^>]*>/g)) {
    codes.set(Number(/\bnumFmtId="(\d+)"/.exec(tag)?.[1]), /\bformatCode="([^"]*)"/.exec(tag)?.[1] ?? '')
  }
  const [, ofCells = ''] = /<(?:\w+:)?cellXfs\b[^>]*>(.*?)<\/(?:\w+:)?cellXfs>/s.exec(styles) ?? []
  return [...ofCells.matchAll(/<(?:\w+:)?xf\b[^>]*>/g)].map(([tag]) => {
    const code = codes.get(Number(/\bnumFmtId="(\d+)"/.exec(tag)?.[1]))
    return code === undefined ? general : formatOf(code)
  })
}

/** Reads the first section of a format. The others are for negative numbers, zero and texts. */
export function formatOf(code: string): CellFormat {
  const [first = ''] = code
    .replaceAll('&quot;', '"')
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .split(';')
  const signs = first.replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '').toLowerCase()
  if (/general|@|e[+-]/.test(signs)) return general
  const hasTime = /[hs]/.test(signs)
  const hasDay = /[dy]/.test(signs) || (signs.includes('m') && !hasTime)
  if (hasDay || hasTime) return { kind: 'date', hasDay, hasTime }
  const [whole = '', fraction = ''] = signs.split('.')
  if (!/[0#?]/.test(signs) || signs.includes('/')) return general
  return {
    kind: 'number',
    decimals: Math.min(MOST_DECIMALS, fraction.replaceAll(/[^0#?]/g, '').length),
    isPercent: signs.includes('%'),
    leastDigits: whole.replaceAll(/[^0]/g, '').length,
  }
}

const DAY_MS = 86_400_000
/** Day 0 of the two calendars of workbooks. The first calendar counts a 29 February 1900, which did not exist. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)
const LAST_DAY = 2_958_465 // 31.12.9999

/**
 * A number as the sheet shows it. Digits are not grouped, because the group separator depends on the reader's computer.
 */
export function shownNumber(written: string, format: CellFormat, is1904: boolean): string {
  if (format.kind === 'general' && /^\d{1,15}$/.test(written)) return written // the fast path for most cells
  const value = Number(written)
  if (written.trim() === '' || !Number.isFinite(value)) return written
  if (format.kind === 'date' && value >= 0 && value <= LAST_DAY) return shownDate(value, format, is1904)
  if (format.kind !== 'number') return plainNumber(value)
  const shown = plainNumber(format.isPercent ? value * 100 : value, format.decimals)
  const [whole = '', ...fraction] = shown.replace('-', '').split('.')
  const sign = shown.startsWith('-') ? '-' : ''
  return `${sign}${[whole.padStart(format.leastDigits, '0'), ...fraction].join('.')}${format.isPercent ? '%' : ''}`
}

function shownDate(value: number, format: Extract<CellFormat, { kind: 'date' }>, is1904: boolean): string {
  const seconds = Math.round((value * DAY_MS) / 1000)
  const iso = new Date((is1904 ? EPOCH_1904 : EPOCH_1900) + seconds * 1000).toISOString()
  return shownMoment(iso, format.hasDay, format.hasTime)
}

/** `2026-11-16T09:30:00` as `16.11.2026 09:30`. */
export function shownMoment(iso: string, hasDay: boolean, hasTime: boolean): string {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d))?/.exec(iso) ?? []
  if (!year) return iso
  return [hasDay && `${day}.${month}.${year}`, hasTime && (time ?? '00:00')].filter(Boolean).join(' ')
}

const DIGITS_KEPT = 15
const MOST_DECIMALS = 20

/** Rounds to 15 digits, as workbooks do: no 0.30000000000000004. Never writes 7.916E10. */
function plainNumber(value: number, decimals?: number): string {
  const rounded = Number(value.toPrecision(DIGITS_KEPT))
  if (decimals !== undefined) return rounded.toFixed(decimals)
  const written = String(rounded)
  if (!written.includes('e')) return written
  return Number.isInteger(rounded) ? BigInt(rounded).toString() : rounded.toFixed(MOST_DECIMALS).replace(/\.?0+$/, '')
}
