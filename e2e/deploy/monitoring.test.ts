import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commands } from '../../src/commands/all-commands.ts'
import { recordEngine } from '../../src/domain/engines/engines.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { buildApp } from '../../src/http/app.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { has, outcomeOf, root } from './programs.ts'
import { type Matcher, readExpression, type Selector } from './promql.ts'

const db = useDatabase()
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Target = { expr: string; legendFormat: string; datasource: { uid: string } }
type Panel = {
  title: string
  type: string
  description?: string
  datasource?: { uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  fieldConfig?: { defaults: { unit?: string } }
  targets?: Target[]
}
type Rule = {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook_url: string }
}

const dashboard: { panels: Panel[]; templating: { list: { name: string; type: string }[] } } = JSON.parse(
  read('deploy/grafana/dashboards/tidings.json'),
)
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  group => group.rules,
)
const runbook = read('docs/runbook.md')
const sections = new Map(
  runbook
    .split(/^(?=##+ )/m)
    .filter(text => text.startsWith('### '))
    .map(text => [text.slice(4, text.indexOf('\n')), text]),
)

/** Labels of all series, by name, with their values. */
const served = new Map<string, Map<string, Set<string>>>()

/** Prometheus adds these labels, `serve` with several HTTP processes adds `process`. */
const addedLabels = ['job', 'instance', 'process']

beforeAll(async () => {
  await haveFigures()
  const app = await aService()
  await app.inject('/readyz')
  await app.inject('/api/v1/ping')
  await app.inject('/partner/v1/company')
  await app.inject({ method: 'POST', url: '/api/v1/message', headers: { authorization: 'Bearer x' } })
  const { body } = await app.inject('/metrics')
  await app.close()
  for (const [, name, labels = ''] of body.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) addSeries(name!, labels)
  addSeries('up', '') // made by Prometheus
  for (const [, name] of body.matchAll(/^# TYPE (\S+) gauge$/gm)) addSeries(name!, '') // without a value, as of a standby
})

/** A gateway that had an error, and an engine. */
async function haveFigures() {
  const { gatewayId } = await aGateway(db.sql, { name: 'one' })
  await db.sql`
    insert into gateway_states select ${gatewayId}, gen_random_uuid(), true, 1, 5, 0, 0, 0, 'an error',
      clock_timestamp(), clock_timestamp()`
  await recordEngine(db.sql, '00000000-0000-4000-8000-000000000001', 0, {
    host: 'one',
    pid: 7,
    version: '1.0.0',
    loopDelayMs: 1,
    unrecorded: 1,
    memoryBytes: 1,
  })
}

async function aService() {
  const numbering = await loadNumbering(db.sql)
  return buildApp({
    sql: db.sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: true,
    secret: 'a secret of the tests, 32 or longer',
    dataFolder: tmpdir(),
    reading: {
      read: work => work(db.sql),
      upToDate: async () => db.sql,
      state: () => ({ isReplica: true, lagMs: 5 }),
    },
  })
}

function addSeries(name: string, labels: string) {
  const known = served.get(name) ?? new Map<string, Set<string>>()
  served.set(name, known)
  for (const [, label, value] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
    known.set(label!, (known.get(label!) ?? new Set()).add(value!))
}

/** The parts of an expression that no series of the service has. */
const missingIn = (expr: string): string[] => readExpression(expr).selectors.flatMap(missingOf)

function missingOf({ name, labels, matchers }: Selector): string[] {
  const known = served.get(name)
  if (!known) return [name]
  const isKnown = (label: string) => known.has(label) || addedLabels.includes(label)
  return [
    ...[...labels].filter(label => !isKnown(label)).map(label => `${name}{${label}}`),
    ...matchers
      .filter(({ label }) => known.has(label))
      .filter(matcher => !canMatch(matcher, [...known.get(matcher.label)!]))
      .map(({ label, value }) => `${name}{${label}="${value}"}`),
  ]
}

/** Every alternative of a selected value must exist. Statuses of failures are left out: no request of the test fails. */
function canMatch({ label, operator, value }: Matcher, values: string[]): boolean {
  if (label === 'status' || operator.startsWith('!')) return true
  if (operator === '=') return values.includes(value)
  return alternativesOf(value).every(each => values.some(one => new RegExp(`^(?:${each})$`).test(one)))
}

/** Of `a|b` the parts a and b, of `/(a|b)/c` the parts /a/c and /b/c. */
function alternativesOf(pattern: string): string[] {
  const [, before, inner, after] = pattern.match(/^([^(|]*)\(([^)]*)\)([^(|]*)$/) ?? [undefined, '', pattern, '']
  return inner!.split('|').map(each => before + each + after)
}

/** Labels that a text names and the result of its expression does not have. */
function unknownLabels(expr: string, named: string[]): string[] {
  const { selectors, kept } = readExpression(expr)
  const all =
    kept ??
    new Set([...addedLabels, ...selectors.flatMap(({ name }) => [...(served.get(name) ?? [])].map(([label]) => label))])
  return named.filter(label => !all.has(label))
}

const labelsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, label]) => label!)

describe('the service serves every metric and label', () => {
  test.each(panels)('of the panel "$title"', ({ targets = [] }) => {
    expect(targets).not.toEqual([])
    for (const { expr, legendFormat } of targets) {
      expect(missingIn(expr)).toEqual([])
      expect(unknownLabels(expr, labelsIn(legendFormat, /\{\{(\w+)\}\}/g))).toEqual([])
    }
  })

  test.each(rules)('of the alert $alert', ({ expr, annotations }) => {
    expect(missingIn(expr)).toEqual([])
    const texts = `${annotations.summary} ${annotations.description}`
    expect(unknownLabels(expr, labelsIn(texts, /\$labels\.(\w+)/g))).toEqual([])
  })

  test.each([
    ['max(tidings_engine)', ['tidings_engine']],
    ['max by (worker) (tidings_engine_chunks)', ['tidings_engine_chunks{worker}']],
    ['rate(tidings_messages_total{result="lost"}[5m]) > 0', ['tidings_messages_total{result="lost"}']],
    [
      'max(tidings_verification_blocked{kind=~"company|verifyer"})',
      ['tidings_verification_blocked{kind="company|verifyer"}'],
    ],
    [
      'sum(rate(tidings_http_request_seconds_count{route=~"/(api|partners)/v1/.*"}[5m]))',
      ['tidings_http_request_seconds_count{route="/(api|partners)/v1/.*"}'],
    ],
  ])('and %s is noticed as wrong', (expr, missing) => {
    expect(missingIn(expr)).toEqual(missing)
  })

  test.each([
    'max(tidings_engines',
    'max(tidings_engines))',
    'maximum(tidings_engines)',
    'rate(tidings_engines[5])',
    'a{b~"c"}',
  ])('and %s is no expression', expr => {
    expect(() => readExpression(expr)).toThrow('The expression')
  })
})

describe('the dashboard', () => {
  test('shows every figure of Tidings', () => {
    const names = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => readExpression(expr).selectors))
    const shown = new Set(names.map(({ name }) => name))
    const ours = [...served.keys()].filter(name => name.startsWith('tidings_') && !name.endsWith('_sum'))
    expect(ours.filter(name => !shown.has(name))).toEqual([])
  })

  test('asks the data source that the reader chose', () => {
    expect(dashboard.templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource' }),
    )
    const sources = panels.flatMap(({ datasource, targets = [] }) => [
      datasource,
      ...targets.map(one => one.datasource),
    ])
    expect(new Set(sources.map(source => source?.uid))).toEqual(new Set([`$\{datasource}`]))
  })

  test('explains each panel, gives it a unit, and names only alerts that exist', () => {
    for (const { title, description = '', fieldConfig } of panels) {
      expect({ title, description }).not.toEqual({ title, description: '' })
      expect(fieldConfig?.defaults.unit, title).toBeTruthy()
      const named = description.match(/\bTidings[A-Z]\w+/g) ?? []
      expect(named.filter(name => !sections.has(name))).toEqual([])
    }
  })

  test('has no panels that overlap', () => {
    const all = dashboard.panels.map(({ gridPos }) => gridPos)
    const overlaps = all.flatMap((a, i) =>
      all.slice(i + 1).filter(b => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h),
    )
    expect(overlaps).toEqual([])
  })
})

describe('the runbook', () => {
  test('has a section for each alert, in the same order, and no other section', () => {
    expect([...sections.keys()]).toEqual(rules.map(({ alert }) => alert))
  })

  test.each(rules)('answers $alert', ({ alert, for: wait, labels, annotations }) => {
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(wait).toMatch(/^\d+[mhd]$/)
    for (const text of [annotations.summary, annotations.description]) expect(text).toBeTruthy()
    const headings = [...sections.get(alert)!.matchAll(/^\*\*([\w ]+)\.\*\*/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['Meaning', 'Users notice', 'Look', 'Do', 'Over when'])
  })

  test('names commands and options that exist', () => {
    const texts = [...runbook.matchAll(/`(tidings [a-z][^`]*)`|^(tidings [a-z].*)$/gm)].map(
      match => match[1] ?? match[2]!,
    )
    expect(texts.length).toBeGreaterThan(50)
    expect(texts.flatMap(wrongIn)).toEqual([])
  })

  test('has SQL that the database can run', async () => {
    for (const page of ['docs/runbook.md', 'docs/operations.md']) {
      const blocks = [...read(page).matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, block]) => block!)
      const reading = blocks.filter(block => /^(?:select|--)/.test(block))
      expect(reading).not.toEqual([])
      for (const block of reading) await db.sql.begin('read only', sql => sql.unsafe(block))
    }
  })
})

/** Commands and options of a line that do not exist. */
function wrongIn(line: string): string[] {
  const words = line
    .split(/\s+(?:#|\|)/)[0]!
    .split(/\s+/)
    .slice(1)
  const command = commands.find(({ name }) => name === words.slice(0, 2).join(' ') || name === words[0])
  if (!command) return [line]
  const options = words.filter(word => word.startsWith('--')).map(word => word.slice(2))
  return options.filter(option => !Object.hasOwn(command.options ?? {}, option)).map(option => `${line}: --${option}`)
}

describe.skipIf(!has('promtool'))('with promtool (skipped without it, package prometheus)', () => {
  test.each([
    ['Prometheus reads its files', ['check', 'config', 'deploy/prometheus/prometheus.yml']],
    ['alerts fire when they should, and not otherwise', ['test', 'rules', 'e2e/deploy/alerts.promtool.yml']],
  ])('%s', (_, [...words]) => {
    const { status, output } = outcomeOf('promtool', [...words.slice(0, -1), join(root, words.at(-1)!)])
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' })
  })
})
