import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Bench, Figure } from '../figures.ts'
import { remainingOf } from './all.ts'
import { outcomeOf } from './child.ts'
import { pageOf } from './page.ts'
import { type Choice, chosenOf, commandOf, planOf } from './plan.ts'
import { durationOf, leftOf, resultOf } from './progress.ts'
import { continued, inOrder, type Measured, type Results, withMeasured } from './results.ts'

const benches: Bench[] = ['peers', 'engine', 'engine-history', 'smpp-memory', 'brand-new'].map(name => ({
  name,
  about: `what ${name} does`,
  run: async () => [],
}))
const plan = planOf(benches)

const measured = (key: string, figures: Figure[], failed?: string): Measured => ({
  key,
  command: `npm run bench -- ${key}`,
  begunAt: '2026-11-17T08:00:00.000Z',
  seconds: 75,
  version: '0.1.0, commit abc',
  busyBefore: 0,
  figures,
  ...(failed === undefined ? {} : { failed }),
})

const resultsOf = (...all: Measured[]): Results => ({
  begunAt: '2026-11-17T08:00:00.000Z',
  commands: ['npm run bench -- all'],
  machine: { Processor: 'Fast | Furious', Cores: '2', Memory: '8 GiB', Kernel: 'linux 6' },
  measured: all,
})

const texts = {
  text: readFileSync(new URL('page.md', import.meta.url), 'utf8'),
  tried: readFileSync(new URL('tried.md', import.meta.url), 'utf8'),
}

const met: Figure = { what: 'ratio A', value: 0.9, unit: '', target: { least: 0.85 } }
const missed: Figure = { what: 'ratio B', value: 0.64, unit: '', target: { most: 0.5 } }

test('a missed promise is shown as plainly as a met one', () => {
  const page = pageOf(plan, resultsOf(measured('engine', [met, missed])), texts)
  expect(page).toContain('**1 of 2 promises are met**, and 1 is missed')
  expect(page).toContain('| `engine` | ratio A | at least 0.85 | 0.9 | met |')
  expect(page).toContain('|  | ratio B | at most 0.5 | 0.64 | **missed** |')
})

test('a bench that failed or was not chosen stays on the page with the reason', () => {
  const page = pageOf(plan, resultsOf(measured('peers-speed', [], 'this bench needs wrk')), texts)
  expect(page).toContain('*Not measured: this bench needs wrk.*')
  expect(page).toContain(
    '### engine\n\nWhat engine does.\n\n*Not measured: this run did not choose it.* `npm run bench -- engine`',
  )
  expect(page).toContain(`${plan.length} of ${plan.length} runs were not measured`)
})

test('a busy machine is named in the summary and at each bench', () => {
  const busy = { ...measured('engine', [met]), busyBefore: 0.42 }
  const page = pageOf(plan, resultsOf(measured('peers-speed', [met]), busy), texts)
  expect(page).toContain('**The machine was busy**: other programs worked before `engine`.')
  expect(page).toContain('other programs used 42 % of the cores before')
  expect(pageOf(plan, resultsOf(measured('peers-speed', [met])), texts)).not.toContain('busy')
})

test('every slot of the page is filled, and an unknown slot is refused', () => {
  expect(pageOf(plan, resultsOf(), texts)).not.toMatch(/\{\{|\}\}|undefined|NaN/)
  expect(() => pageOf(plan, resultsOf(), { text: '{{unknown}}', tried: '' })).toThrow('no part "unknown"')
})

test('cells of tables are escaped, and every table has rows of one width', () => {
  const page = pageOf(plan, resultsOf(measured('engine', [met, missed])), texts)
  expect(page).toContain('| Processor | Fast \\| Furious |')
  for (const table of page.match(/(?:^\|.*\n)+/gm) ?? []) {
    const widths = table
      .trim()
      .split('\n')
      .map(row => row.split(/(?<!\\)\|/).length)
    expect(new Set(widths).size, table).toBe(1)
  }
})

test('the sentences beside Kannel are computed from the figures', () => {
  const figure = (id: string, value: number): Figure => ({ id, what: id, value, unit: '' })
  const figures = ['kannel.singles', 'tidings.singles'].flatMap((id, i) => [
    figure(`${id}.delivered`, 1000 * (i + 1)),
    figure(`${id}.time`, 1.5 / (i + 1)),
  ])
  const page = pageOf(plan, resultsOf(measured('peers-speed', figures)), texts)
  expect(page).toContain('**Tidings, singles**: 2,000 messages a second, 2 times Kannel; 0.75 ms of processor time')
})

test('the plan contains every bench, also a bench without usual values', () => {
  expect(plan.map(({ key }) => key)).toEqual([
    'peers-speed',
    'peers-million',
    'peers-crash',
    'engine',
    'engine-history',
    'smpp-memory',
    'brand-new',
  ])
})

test('options are given to the benches that have them', () => {
  const commands = planOf(benches, { rounds: 5, isFull: true }).map(commandOf)
  expect(commands).toContain('npm run bench -- peers --only singles,dispatch,lone --rounds 5')
  expect(commands).toContain('npm run bench -- engine')
  expect(commands).toContain('npm run bench -- engine-history')
  expect(plan.map(commandOf)).toContain('npm run bench -- engine-history --history 1000000')
})

test('a long bench is measured when it is named, and with --full', () => {
  const isChosen = (choice: Choice) =>
    [chosenOf(plan, choice)].flat().some(entry => 'key' in entry && entry.key === 'smpp-memory')
  expect([{}, { isFull: true }, { only: 'smpp-memory' }].map(isChosen)).toEqual([false, true, true])
})

test('--only chooses by bench and by key, and refuses an unknown name', () => {
  const keysOf = (only: string) =>
    [chosenOf(plan, { only })].flat().map(entry => ('key' in entry ? entry.key : entry.message))
  expect(keysOf('peers,engine')).toEqual(['peers-speed', 'peers-million', 'peers-crash', 'engine'])
  expect(keysOf('peers-crash')).toEqual(['peers-crash'])
  expect(keysOf('engine,engin')).toEqual(['There is no bench "engin"'])
})

test('a continued run measures the benches that have no figures', () => {
  const results = resultsOf(measured('peers-speed', [met]), measured('engine', [], 'it ended'))
  const keys = remainingOf(plan, results, { isContinued: true }).map(({ key }) => key)
  expect(keys).toEqual(['peers-million', 'peers-crash', 'engine', 'engine-history', 'smpp-memory', 'brand-new'])
})

test('a bench that is named is measured again, and its new result replaces the former one', () => {
  const results = resultsOf(measured('peers-speed', [met]), measured('engine', [met]))
  const chosen = plan.filter(({ key }) => key === 'engine')
  expect(remainingOf(chosen, results, { isContinued: true, only: 'engine' })).toEqual(chosen)
  expect(withMeasured(results, measured('engine', [missed])).measured).toEqual([
    measured('peers-speed', [met]),
    measured('engine', [missed]),
  ])
})

test('the page has the order of the plan', () => {
  const results = resultsOf(measured('engine', [met]), measured('peers-speed', [met]))
  expect(inOrder(plan, results).measured.map(({ key }) => key)).toEqual(['peers-speed', 'engine'])
})

test('results of another machine are not continued', () => {
  const { machine } = resultsOf()
  const after = continued(resultsOf(), 'npm run bench -- all --continue', { ...machine, Disk: 'slower today' })
  expect(after).toEqual({ ...resultsOf(), commands: ['npm run bench -- all', 'npm run bench -- all --continue'] })
  expect(continued(resultsOf(), '', { ...machine, Cores: '64' })).toBeInstanceOf(Error)
  expect(continued(undefined, '', machine)).toBeInstanceOf(Error)
})

test('a process without figures has a reason', () => {
  expect(outcomeOf(JSON.stringify({ figures: [met] }), 'a warning')).toEqual({ figures: [met] })
  expect(outcomeOf('{"failed":"needs wrk"}', 'Error: needs wrk\n  at x')).toEqual({ figures: [], failed: 'needs wrk' })
  expect(outcomeOf('{"figures":[]}', '')).toEqual({ figures: [], failed: 'it gave no figures' })
  expect(outcomeOf('', 'first\nKilled\n')).toEqual({ figures: [], failed: 'Killed' })
  expect(outcomeOf('', '')).toEqual({ figures: [], failed: 'it ended without a result' })
})

test('the time that is left follows the speed of the machine so far', () => {
  const entries = plan.slice(0, 2).map(entry => ({ ...entry, seconds: 100 }))
  expect(leftOf(entries, 0, { expected: 0, used: 0 })).toBe(200)
  expect(leftOf(entries, 30, { expected: 50, used: 100 })).toBe(370)
  expect(leftOf(entries, 500, { expected: 0, used: 0 })).toBe(100)
})

test('the end of a bench says how many targets are met, or why there are none', () => {
  expect(resultOf({ figures: [met, missed] })).toBe('1 of 2 targets met')
  expect(resultOf({ figures: [{ what: 'x', value: 1, unit: '' }] })).toBe('measured, without a target')
  expect(resultOf({ figures: [], failed: 'it ended' })).toBe('not measured: it ended')
  expect([durationOf(59.4), durationOf(60), durationOf(605)]).toEqual(['59 s', '1 min 00 s', '10 min 05 s'])
})
