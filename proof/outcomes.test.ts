import { expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { type Bounds, figuresOf, type Row, type Seen } from './faults/facts.ts'
import { outcomesOf } from './growth/sides.ts'
import { brokenPromises, exitCodeOf, type Outcome, tableOf } from './outcomes.ts'
import { type Books, figuresOf as figuresOfSoak, growthOf, type Sample } from './soak/judging.ts'

const bounds: Bounds = { twice: 1, recoverSeconds: 30 }

const row = (uuid: string, destination: string, given: Partial<Row> = {}): Row => ({
  uuid,
  destination,
  status: 'DELIVERED',
  finalPrice: 39_000n,
  wantsCallback: true,
  ...given,
})

/** Two messages, and everything is as promised. */
const inOrder: Seen = {
  accepted: [
    { kind: 'dispatch', destination: '1' },
    { kind: 'single', destination: '2', uuid: 'b' },
  ],
  taken: new Map([
    ['1', 1],
    ['2', 1],
  ]),
  rows: [row('a', '1'), row('b', '2')],
  spent: 78_000n,
  ends: new Map([
    ['a', new Set(['delivered'])],
    ['b', new Set(['delivered'])],
  ]),
  wrongCodes: 0,
  ledgerDifferences: 0,
  statisticsDifferences: 0,
  dispatchesOpen: 0,
  recoverSeconds: 1,
  settleSeconds: 2,
}

const outcomeOf = (changes: Partial<Seen>): Outcome => ({
  name: 'kill',
  figures: figuresOf({ ...inOrder, ...changes }, bounds),
})

test('a fault after which everything is in order keeps every promise', () => {
  expect(brokenPromises([outcomeOf({})])).toEqual([])
  expect(exitCodeOf([outcomeOf({})])).toBe(0)
})

test('a message sent twice within the documented window keeps the promise', () => {
  const taken = new Map([
    ['1', 2],
    ['2', 1],
  ])
  expect(exitCodeOf([outcomeOf({ taken })])).toBe(0)
})

test.each<[promise: string, changes: Partial<Seen>]>([
  ['accepted', { accepted: [] }],
  ['lost', { taken: new Map([['1', 1]]) }],
  ['lost', { rows: [row('a', '1'), row('b', '2', { status: 'SENT', finalPrice: null })], spent: 39_000n }],
  ['twice', { taken: new Map(Object.entries({ 1: 2, 2: 2 })) }],
  [
    'accepted twice',
    { rows: [row('a', '1'), row('b', '2'), row('c', '2', { status: 'FAILED', wantsCallback: false })] },
  ],
  ['not billed once', { spent: 117_000n }],
  ['not billed once', { spent: 39_000n }],
  ['ledger', { ledgerDifferences: 1 }],
  ['statistics', { statisticsDifferences: 1 }],
  ['not COMPLETED', { dispatchesOpen: 1 }],
  ['not told', { ends: new Map([['a', new Set(['delivered'])]]) }],
  ['told two ends', { ends: new Map([...inOrder.ends, ['b', new Set(['delivered', 'undelivered'])]]) }],
  ['wrong codes', { wrongCodes: 1 }],
  ['recover s', { recoverSeconds: 31 }],
])('a broken promise is shown and ends in exit code 1: %s', (promise, changes) => {
  const outcome = outcomeOf(changes)
  expect(brokenPromises([outcome])).toEqual([expect.stringContaining(`kill: ${promise} is `)])
  expect(exitCodeOf([outcomeOf({}), outcome])).toBe(1)
  expect(tableOf([outcome])).toContain('!')
})

test('a part that failed breaks the proof, and so does a run that skipped everything', () => {
  expect(exitCodeOf([outcomeOf({}), { name: 'freeze', figures: [], failed: 'no answer' }])).toBe(1)
  expect(exitCodeOf([{ name: 'failover', figures: [], skipped: 'not installed' }])).toBe(1)
  expect(exitCodeOf([outcomeOf({}), { name: 'failover', figures: [], skipped: 'not installed' }])).toBe(0)
  expect(tableOf([{ name: 'failover', figures: [], skipped: 'not installed' }])).toContain('skipped: not installed')
})

test('the command line names one program, and numbers within their limits', () => {
  expect(readCommandLine(['faults', '--only', 'kill-api', '--size', '200'])).toEqual({
    name: 'faults',
    options: { only: 'kill-api', size: 200 },
  })
  expect(readCommandLine(['--help'])).toBe('help')
  for (const words of [[], ['floods'], ['soak', '--minutes', '1'], ['faults', '--size', '1e3'], ['growth', '--fast']])
    expect(readCommandLine(words)).toBeInstanceOf(Error)
})

const minute: Sample = {
  memoryBytes: 500e6,
  connections: 40,
  deadShare: 0.1,
  workTablesBytes: 2e6,
  lateDeadlines: 0,
  sent: [9000, 9000],
}
const books: Books = { ledgerDifferences: 0, statisticsDifferences: 0 }

/** Ten minutes. The last of them has these changes. */
const soakOf = (changes: Partial<Sample>, found: Partial<Books> = {}): Outcome => ({
  name: 'soak',
  figures: figuresOfSoak([...Array(9).fill(minute), { ...minute, ...changes }], { ...books, ...found }),
})

test('a soak without growth keeps every promise', () => {
  expect(brokenPromises([soakOf({})])).toEqual([])
  expect(growthOf([100, 110, 120, 130, 140])).toBeCloseTo(40 / 120)
  expect(growthOf([100, 101, 99, 100, 100])).toBeLessThan(0.01)
})

test.each<[promise: string, changes: Partial<Sample>, found?: Partial<Books>]>([
  ['memory growth', { memoryBytes: 1500e6 }],
  ['connections growth', { connections: 120 }],
  ['most dead rows', { deadShare: 0.6 }],
  ['work tables grew MB', { workTablesBytes: 60e6 }],
  ['late deadlines', { lateDeadlines: 1 }],
  ['least share', { sent: [3000, 9000] }],
  ['least share', { sent: [0, 0] }],
  ['ledger', {}, { ledgerDifferences: 1 }],
  ['statistics', {}, { statisticsDifferences: 1 }],
])('a soak with a broken promise ends in exit code 1: %s', (promise, changes, found) => {
  const outcome = soakOf(changes, found)
  expect(brokenPromises([outcome])).toEqual([expect.stringContaining(`soak: ${promise} is `)])
  expect(exitCodeOf([outcome])).toBe(1)
})

test('a size that slows the engine or takes memory by more than a fifth breaks the proof of growth', () => {
  const smallest = { label: '0', speeds: [1000, 1100, 1200], bytes: 100e6 }
  const larger = (speeds: number[], bytes: number) => outcomesOf('history', [smallest, { label: '9', speeds, bytes }])
  expect(exitCodeOf(larger([900, 1000, 1000], 110e6))).toBe(0)
  expect(brokenPromises(larger([700, 1100, 900], 110e6))).toEqual([
    expect.stringContaining('history: 9: to the smallest'),
  ])
  expect(brokenPromises(larger([1000, 1100, 1200], 130e6))).toEqual([
    expect.stringContaining('memory, to the smallest'),
  ])
})
