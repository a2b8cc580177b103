import { describe, expect, test } from 'vitest'
import type { Figure } from '../figures.ts'
import { figuresOf } from '../peers/peers.ts'
import { chartsOf } from './charts.ts'
import type { Measured, Results } from './results.ts'
import { escapeXml, WIDTH } from './svg.ts'

const round = (delivered: number, millisecondsByPart: Record<string, number>) => ({
  delivered,
  deliveredPerSecond: delivered,
  millisecondsByPart,
  milliseconds: Object.values(millisecondsByPart).reduce((sum, value) => sum + value, 0),
  peakBytes: 1e6,
  commits: 1,
})

const times = (id: string, p50: number, p99: number): Figure[] => [
  { id: `${id}.p50`, what: 'p50', value: p50, unit: 'ms' },
  { id: `${id}.p99`, what: 'p99', value: p99, unit: 'ms' },
]

/** The figures as the bench `peers` makes them. */
const peers = [
  ...figuresOf('kannel.singles', 'Kannel', [round(978, { bearerbox: 1.41, smsbox: 0.31 })]),
  ...times('kannel.singles', 53, 82),
  ...figuresOf('tidings.singles', 'Tidings', [round(1832, { API: 0.27, engine: 0.25, database: 0.3 })]),
  ...times('tidings.singles', 31, 1234.5),
  ...figuresOf('tidings.dispatch', 'Tidings', [round(1_234_567, { API: 0.001, engine: 0.09, database: 0.07 })]),
  ...times('kannel.lone', 37, 46),
  ...times('tidings.lone', 11, 29),
]

const promises: Figure[] = [
  { what: 'far better', value: 1000, unit: '', target: { least: 1 } },
  { what: 'missed', value: 0.5, unit: '', target: { least: 0.85 } },
]
const lossless: Figure[] = [{ what: 'lost', value: 0, unit: 'messages', target: { most: 0 } }]
const lossy: Figure[] = [{ what: 'lost', value: 1_234_567, unit: 'messages', target: { most: 0 } }]

const measured = (key: string, figures: Figure[]): Measured => ({
  key,
  command: `npm run bench -- ${key}`,
  begunAt: '2026-11-17T08:00:00.000Z',
  seconds: 1,
  version: '0.1.0',
  busyBefore: 0,
  figures,
})

const resultsOf = (...all: Measured[]): Results => ({
  begunAt: '2026-11-17T08:00:00.000Z',
  commands: ['npm run bench -- all'],
  machine: {},
  measured: all,
})

const everything = resultsOf(
  measured('peers', peers),
  measured('a-long-name-xyz', promises),
  measured('lossless', lossless),
  measured('lossy', lossy),
)
const charts = chartsOf(everything)

test('there is a chart of each kind for light and for dark pages', () => {
  const names = ['peers', 'cost', 'waiting', 'promises'].flatMap(name => [`${name}-light.svg`, `${name}-dark.svg`])
  expect([...charts.keys()]).toEqual(names)
  expect(charts.get('peers-light.svg')).not.toBe(charts.get('peers-dark.svg'))
})

test('a chart whose figures were not measured is left out', () => {
  expect([...chartsOf(resultsOf(measured('engine', promises))).keys()]).toEqual([
    'promises-light.svg',
    'promises-dark.svg',
  ])
})

test('the chart of the peers shows all three systems with their figures', () => {
  const texts = textsIn(charts.get('peers-light.svg') ?? '').map(({ text }) => text)
  expect(texts).toEqual(
    expect.arrayContaining(['Kannel, singles', '978', '1.72 ms', 'Tidings, singles', '1,832', '0.82 ms']),
  )
  expect(texts).toEqual(expect.arrayContaining(['Tidings, a dispatch', '1,234,567', '0.16 ms']))
})

test('the longest bar belongs to the largest value, and bars have the ratio of their values', () => {
  const widths = rectsIn(charts.get('peers-light.svg') ?? '').map(({ width }) => width)
  const [kannel, singles] = widths.slice(-3)
  expect((singles ?? 0) / (kannel ?? 1)).toBeCloseTo(0.82 / 1.72, 2)
})

describe.each([...charts])('%s', (_, svg) => {
  test('is well-formed XML', () => {
    expect(faultOf(svg)).toBeUndefined()
  })

  test('has no labels that overlap or leave the picture', () => {
    const boxes = textsIn(svg).map(boxOf)
    const height = Number(/^<svg [^>]*height="([\d.]+)"/.exec(svg)?.[1])
    const outside = boxes.filter(
      ({ left, right, top, bottom }) => left < 0 || right > WIDTH || top < 0 || bottom > height,
    )
    expect(outside).toEqual([])
    const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map(b => [a, b] as const))
    expect(pairs.filter(([a, b]) => overlap(a, b)).map(([a, b]) => `${a.text} / ${b.text}`)).toEqual([])
  })

  test('has no value that is not a number', () => {
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  })
})

describe('the check of well-formedness', () => {
  test.each(['<a><b></a></b>', '<a>&</a>', '<a b=1/>', '<a>', '<a/><a/>', '<a b="<"/>'])(
    'finds the fault of %s',
    text => {
      expect(faultOf(text)).toBeDefined()
    },
  )

  test('accepts names with signs of XML', () => {
    expect(faultOf(`<a b="${escapeXml('"<&>')}">${escapeXml('"<&>')}</a>`)).toBeUndefined()
  })
})

// Reading SVG ---------------------------------------------------------------------------------------------------------

/** The first fault of an XML text: tags that do not match, attributes without quotes, or signs that are not escaped. */
function faultOf(xml: string): string | undefined {
  const open: string[] = []
  let roots = 0
  for (const [token] of xml.trim().matchAll(/<[^>]*>|[^<]+/g)) {
    if (!token.startsWith('<')) {
      if (/&(?!(?:amp|lt|gt|quot);)|>/.test(token) || (open.length === 0 && token.trim() !== '')) return token
      continue
    }
    const tag = /^<(\/?)([a-z]+)((?: [\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>$/.exec(token)
    if (!tag) return token
    const [, closing, name = '', , empty] = tag
    if (closing && open.pop() !== name) return token
    if (!closing && open.length === 0) roots++
    if (!closing && !empty) open.push(name)
  }
  return open.length === 0 && roots === 1 ? undefined : 'the end'
}

type Text = { x: number; y: number; size: number; anchor: string; text: string }

function textsIn(svg: string): Text[] {
  const pattern =
    /<text x="([\d.-]+)" y="([\d.-]+)" font-size="(\d+)" font-weight="\d+" text-anchor="(\w+)"[^>]*>([^<]*)</g
  return [...svg.matchAll(pattern)].map(([, x, y, size, anchor = '', text = '']) => ({
    x: Number(x),
    y: Number(y),
    size: Number(size),
    anchor,
    text,
  }))
}

const rectsIn = (svg: string) =>
  [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(([, x, width]) => ({
    x: Number(x),
    width: Number(width),
  }))

/** Wider than the mean character of usual fonts. */
const CHARACTER_WIDTH = 0.6

function boxOf({ x, y, size, anchor, text }: Text) {
  const width = text.length * size * CHARACTER_WIDTH
  const left = anchor === 'end' ? x - width : anchor === 'middle' ? x - width / 2 : x
  return { text, left, right: left + width, top: y - size * 0.8, bottom: y + size * 0.2 }
}

type Box = ReturnType<typeof boxOf>

const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
