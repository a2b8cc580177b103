import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tablesWrittenBy, writersOfTables } from './testing/table-writers.ts'

/**
 * Which folder may import which. If a rule stops you, the code probably belongs one folder lower. `docs/architecture.md`
 * describes each folder.
 */

type Import = { path: string; typesOnly: boolean }
type Sources = Map<string, Import[]>

/** A slice may import only the slices before it, so there are no circles. */
const slices = [
  'audit-log',
  'partners',
  'accounts',
  'companies',
  'people',
  'traffic-centers',
  'keys',
  'request-log',
  'documents',
  'numbering',
  'review',
  'senders',
  'routing',
  'verifiers',
  'widgets',
  'templates',
  'blacklist',
  'pricing',
  'ledger',
  'gateways',
  'limits',
  'callbacks',
  'idempotency',
  'verifications',
  'lanes',
  'short-links',
  'timers',
  'stop-requests',
  'messages',
  'cascades',
  'statistics',
  'dispatches',
  'message-search',
  'singles',
  'cascade-steps',
  'receipts',
  'recording',
  'leases',
  'stopping',
  'expiry',
  'engines',
  'waiting',
  'message-life',
  'watching',
  'subscribers',
  'flashcalls',
  'inbound',
  'verification',
  'erasure',
  'audit',
  'overview',
  'health',
]

/** The folders that each folder of `src` may import, besides itself. */
const allowedImports: Record<string, string[]> = {
  base: [],
  db: ['base'],
  channels: ['base'],
  domain: ['base', 'db'],
  http: ['base', 'db', 'domain'],
  engine: ['base', 'db', 'domain', 'channels'],
  commands: ['base', 'db', 'domain', 'channels', 'http', 'engine', 'config.ts'],
  'main.ts': ['base', 'db', 'domain', 'channels', 'http', 'engine', 'config.ts', 'commands'],
  'config.ts': ['base'],
}

const folderOf = (file: string) => file.split('/')[0]!
const sliceOf = (file: string) => (folderOf(file) === 'domain' ? file.split('/')[1] : undefined)
const isOfTests = (file: string) => /\.(test|contract)\.ts$/.test(file) || folderOf(file) === 'testing'

type Rule = (file: string, imported: Import) => string | undefined

const rules: Record<string, Rule> = {
  'every import of ours names its file, ending in .ts': (_, { path }) =>
    path.endsWith('.ts') || path.endsWith('.json') ? undefined : 'has no ending',

  'a folder imports only the folders below it': (file, { path }) => {
    const [from, to] = [folderOf(file), folderOf(path)]
    if (from === to || to === 'testing' || mayReadWebhooks(file, path)) return undefined
    return allowedImports[from]?.includes(to) ? undefined : `${from} may not import ${to}`
  },

  'http knows the database by its types alone': (file, { path, typesOnly }) =>
    folderOf(file) === 'http' && folderOf(path) === 'db' && !typesOnly ? 'is more than a type' : undefined,

  'a slice imports only the slices before it': (file, { path }) => {
    const [from, to] = [sliceOf(file), sliceOf(path)]
    if (!from || !to || from === to) return undefined
    return slices.indexOf(to) < slices.indexOf(from) ? undefined : `${to} comes after ${from}`
  },

  "a slice's SQL is its own": (file, { path }) =>
    /^domain\/.*[/-]store\.ts$/.test(path) && dirname(file) !== dirname(path) ? 'is private to its slice' : undefined,

  'support for tests is imported by tests alone': (_, { path }) => (isOfTests(path) ? 'is for tests' : undefined),
}

/** The routes that operators call may use the pure functions that parse and check a channel's webhook. */
const mayReadWebhooks = (file: string, path: string) =>
  file.startsWith('http/webhooks/') && /^channels\/[^/]+\/webhook\.ts$/.test(path)

function broken(rule: Rule, sources: Sources): string[] {
  return [...sources].flatMap(([file, imports]) =>
    imports.flatMap(imported => {
      const objection = rule(file, imported)
      return objection ? [`${file} -> ${imported.path}: ${objection}`] : []
    }),
  )
}

/** The first circle found, as the files on it. */
function circleIn(sources: Sources): string[] {
  const done = new Set<string>()
  const visit = (file: string, way: string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    if (done.has(file)) return []
    for (const { path } of sources.get(file) ?? []) {
      const circle = visit(path, [...way, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of sources.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

const badName = (file: string) => /(^|[/.-])(utils?|helpers?|manager|index)([/.-]|$)/i.test(file)

// Reading ---------------------------------------------------------------------------------------------------------

const src = import.meta.dirname

const filesOf = (folder: string, endings = /\.ts$/) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(file => file.replaceAll(sep, '/'))
    .filter(file => endings.test(file))

/** The sources of a folder with their imports, as paths below the folder. */
function readSources(folder = src, endings?: RegExp): Sources {
  const files = filesOf(folder, endings).filter(file => !isOfTests(file))
  return new Map(files.map(file => [file, importsIn(file, readFileSync(join(folder, file), 'utf8'))]))
}

const STATEMENT = /^\s*(import|export)\s(?:([^'"`;]*?)\sfrom\s)?\s*['"]([^'"]+)['"]/gm
const CALL = /\bimport\(\s*['"]([^'"]+)['"]/g

/** Relative imports of a file, static and dynamic, as paths below the folder of its sources. */
function importsIn(file: string, text: string): Import[] {
  const statements = [...text.matchAll(STATEMENT)].map(([, , what = '', from]) => ({
    from: from!,
    typesOnly: isTypesOnly(what),
  }))
  const calls = [...text.matchAll(CALL)].map(([, from]) => ({ from: from!, typesOnly: false }))
  return [...statements, ...calls]
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, typesOnly }) => ({
      path: relative(src, join(src, dirname(file), from)).replaceAll(sep, '/'),
      typesOnly,
    }))
}

/** Everything that is loaded before the first line of a file runs: files below `src`, and packages by their names. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  loaded.add(file)
  for (const [, , what = '', from] of readFileSync(join(src, file), 'utf8').matchAll(STATEMENT)) {
    const path = from!.startsWith('.') ? join(dirname(file), from!).replaceAll(sep, '/') : from!
    if (isTypesOnly(what) || path.startsWith('node:') || loaded.has(path)) continue
    if (path === from) loaded.add(path)
    else loadedWith(path, loaded)
  }
  return loaded
}

function isTypesOnly(what: string): boolean {
  if (/^type\s/.test(what)) return true
  const names = /^\{([^}]*)\}$/.exec(what.trim())?.[1]
  return names?.split(',').every(name => name.trim() === '' || /^type\s/.test(name.trim())) ?? false
}

// The sources -----------------------------------------------------------------------------------------------------

describe('the sources', () => {
  const sources = readSources()

  test('are read', () => {
    expect(sources.size).toBeGreaterThan(60)
    expect(sources.get('domain/senders/senders.ts')).toContainEqual({
      path: 'domain/senders/store.ts',
      typesOnly: false,
    })
    expect(sources.get('http/context.ts')).toContainEqual({ path: 'db/sql.ts', typesOnly: true })
  })

  test.each(Object.entries(rules))('%s', (_, rule) => {
    expect(broken(rule, sources)).toEqual([])
  })

  test('every imported file exists', () => {
    const all = new Set(filesOf(src))
    const missing = [...sources].flatMap(([file, imports]) =>
      imports.filter(({ path }) => path.endsWith('.ts') && !all.has(path)).map(({ path }) => `${file} -> ${path}`),
    )
    expect(missing).toEqual([])
  })

  test('there are no circles', () => {
    expect(circleIn(sources)).toEqual([])
  })

  test.each([
    ['the cabinet', 'web/src', 'router.tsx'],
    ['the widget', 'widget', 'mount.ts'],
  ])('%s has no circles either', (_, folder, known) => {
    const pages = readSources(join(src, '..', folder), /\.tsx?$/)
    expect(pages.get(known)?.length).toBeGreaterThan(0)
    expect(circleIn(pages)).toEqual([])
  })

  test('a command loads no package, database, server or engine before it runs', () => {
    const loaded = [...loadedWith('main.ts')]
    expect(loaded).toContain('commands/definitions/companies/companies.ts')
    expect(loaded.filter(path => !/^(main|config)\.ts$|^(base|commands|domain|channels)\//.test(path))).toEqual([])
    expect(loaded.filter(path => path.startsWith('commands/') && !path.startsWith('commands/definitions/'))).toEqual([
      'commands/all-commands.ts',
      'commands/command-line.ts',
      'commands/help.ts',
      'commands/failure.ts',
    ])
  })

  test('each table is written by one slice', () => {
    const writers = [...writersOfTables()].filter(([, folders]) => !folders.has('src/db')) // the versions of the schema
    expect(writers.length).toBeGreaterThan(90)
    expect(
      writers.filter(([, [folder, ...others]]) => others.length > 0 || !folder?.startsWith('src/domain/')),
    ).toEqual([])
  })

  test('every file is in a known folder, and every slice has its place in the order', () => {
    expect([...sources.keys()].filter(file => !(folderOf(file) in allowedImports))).toEqual([])
    const inDomain = [...sources.keys()].flatMap(file => sliceOf(file) ?? [])
    expect([...new Set(inDomain)].filter(slice => !slices.includes(slice))).toEqual([])
  })

  test('nothing is called utils, helpers, manager or index', () => {
    expect(filesOf(src).filter(badName)).toEqual([])
  })
})

// The rules themselves --------------------------------------------------------------------------------------------

describe('the rules', () => {
  const objections = (file: string, line: string) => {
    const sources: Sources = new Map([[file, importsIn(file, line)]])
    return Object.entries(rules).flatMap(([name, rule]) => (broken(rule, sources).length > 0 ? [name] : []))
  }

  test.each([
    ['base/money.ts', "import { connect } from '../db/sql.ts'"],
    ['db/sql.ts', "import { Partner } from '../domain/partners/partner.ts'"],
    ['channels/smpp/client.ts', "import type { Sql } from '../../db/sql.ts'"],
    ['domain/keys/keys.ts', "import { loadConfig } from '../../config.ts'"],
    ['domain/keys/keys.ts', "import { submit } from '../../channels/channel.ts'"],
    ['http/app.ts', "import { loadConfig } from '../config.ts'"],
    ['http/app.ts', "import '../engine/lanes.ts'"],
    ['http/app.ts', "import { submit } from '../channels/channel.ts'"],
    ['http/webhooks/whatsapp.ts', "import { send } from '../../channels/whatsapp/client.ts'"],
    ['engine/lanes.ts', "export { buildApp } from '../http/app.ts'"],
    ['engine/lanes.ts', "const app = await import('../http/app.ts')"],
    ['engine/lanes.ts', "import { serve } from '../commands/serve.ts'"],
    ['commands/serve.ts', "import { main } from '../main.ts'"],
  ])('%s: %s is not allowed', (file, line) => {
    expect(objections(file, line)).toEqual(['a folder imports only the folders below it'])
  })

  test.each([
    [
      'domain/senders/senders.ts',
      "import type { Tariff } from '../pricing/tariff.ts'",
      'a slice imports only the slices before it',
    ],
    [
      'domain/messages/messages.ts',
      "import { a, type b } from '../dispatches/dispatch.ts'",
      'a slice imports only the slices before it',
    ],
    ['domain/dispatches/writing.ts', "import * as store from '../messages/store.ts'", "a slice's SQL is its own"],
    ['http/partner/keys.ts', "import type { Key } from '../../domain/keys/store.ts'", "a slice's SQL is its own"],
    ['http/app.ts', "import { connect, type Pool } from '../db/sql.ts'", 'http knows the database by its types alone'],
    [
      'commands/demo.ts',
      "import { aCompany } from '../testing/factories.ts'",
      'support for tests is imported by tests alone',
    ],
    [
      'channels/smpp/smpp.ts',
      "import { suite } from '../channel.contract.ts'",
      'support for tests is imported by tests alone',
    ],
    ['http/app.ts', "import { body } from './body'", 'every import of ours names its file, ending in .ts'],
    ['http/app.ts', "import { body } from './body.js'", 'every import of ours names its file, ending in .ts'],
  ])('%s: %s is stopped', (file, line, rule) => {
    expect(objections(file, line)).toEqual([rule])
  })

  test.each([
    ['domain/dispatches/writing.ts', "import { once } from '../idempotency/idempotency.ts'"],
    ['domain/pricing/pricing.ts', "import type { FeeOf } from '../senders/moderation.ts'"],
    ['domain/keys/keys.ts', "import * as store from './store.ts'"],
    ['http/context.ts', "import type { Pool } from '../db/sql.ts'"],
    ['http/context.ts', "import { type Pool, type Sql } from '../db/sql.ts'"],
    ['http/webhooks/whatsapp.ts', "import { verify } from '../../channels/whatsapp/webhook.ts'"],
    ['engine/lanes.ts', "import { submit } from '../channels/channel.ts'"],
    ['commands/serve.ts', "import { loadConfig } from '../config.ts'"],
    ['main.ts', "import { serve } from './commands/serve.ts'"],
    ['db/copy.ts', "import { once } from 'node:events'"],
  ])('%s: %s is fine', (file, line) => {
    expect(objections(file, line)).toEqual([])
  })

  test.each([
    ['sql`insert into lanes (lane_id) values (1) on conflict do update set open = true`', ['lanes']],
    ['sql`with a as (delete from leases returning *) update only lanes set open = false`', ['leases', 'lanes']],
    ["copyInto(sql, 'messages', columns, write)", ['messages']],
    ['sql`select from lanes for update of lanes skip locked`', []],
    ['/** Deletes: see `delete from leases`. */', []],
  ])('the tables that code writes are found: %s', (code, tables) => {
    expect(tablesWrittenBy(code)).toEqual(tables)
  })

  test('an import over several lines is read as one, and words in a text are not', () => {
    const text = "import {\n  type A,\n  b,\n} from './b.ts'\nimport type C from './c.ts'\nconst d = 'import e from'\n"
    expect(importsIn('base/a.ts', text)).toEqual([
      { path: 'base/b.ts', typesOnly: false },
      { path: 'base/c.ts', typesOnly: true },
    ])
  })

  test('a circle is found, however long', () => {
    const sources = (arrows: Record<string, string>): Sources =>
      new Map(Object.entries(arrows).map(([from, to]) => [from, [{ path: to, typesOnly: true }]]))
    expect(circleIn(sources({ 'a.ts': 'b.ts', 'b.ts': 'c.ts', 'c.ts': 'd.ts', 'd.ts': 'b.ts' }))).toEqual([
      'b.ts',
      'c.ts',
      'd.ts',
      'b.ts',
    ])
    expect(circleIn(sources({ 'a.ts': 'b.ts', 'b.ts': 'c.ts' }))).toEqual([])
  })

  test.each(['base/utils.ts', 'http/helpers/dates.ts', 'domain/keys/key-helper.ts', 'engine/index.ts'])(
    '%s is no name',
    file => expect(badName(file)).toBe(true),
  )
})

describe('the documents', () => {
  const documentOf = (name: string) => readFileSync(join(src, '../docs', name), 'utf8')

  test.each(['architecture.md', 'walkthrough.md'])('docs/%s names files and functions that exist', name => {
    const named = functionsNamedIn(documentOf(name))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(one => !isDefined(one)).map(({ file, name }) => `${file} has no ${name}`)).toEqual([])
  })

  test('docs/walkthrough.md names at most 40 functions', () => {
    expect(functionsNamedIn(documentOf('walkthrough.md')).length).toBeLessThanOrEqual(40)
  })

  test('docs/architecture.md names every slice of the domain', () => {
    const text = documentOf('architecture.md')
    expect(slices.filter(slice => !text.includes(`\`${slice}\``))).toEqual([])
  })

  test.each([
    ['export async function takeChunk(', 'takeChunk', true],
    ['export const openLanes = (sql', 'openLanes', true],
    ['export class Recorder {\n  note(companyId', 'Recorder.note', true],
    ['export class ChunkStarter {\n  async #takeLease(lane', 'ChunkStarter.#takeLease', true],
    ['export class ChunkStarter {\n  start(lane', 'ChunkStarter.#takeLease', false],
    ['  await takeChunk(sql)', 'takeChunk', false],
  ])('a definition is found: %s', (text, name, isFound) => {
    expect(defines(text, name)).toBe(isFound)
  })
})

type NamedFunction = { file: string; name: string }

/** The rows of tables that name a file and a function of it. */
function functionsNamedIn(document: string): NamedFunction[] {
  return [...document.matchAll(/\| `(src\/\S+\.ts)` \| `([\w.#]+)` \|/g)].map(([, file = '', name = '']) => ({
    file,
    name,
  }))
}

function isDefined({ file, name }: NamedFunction): boolean {
  const path = join(src, '..', file)
  return existsSync(path) && defines(readFileSync(path, 'utf8'), name)
}

/** `name` is a function, or a class and its method: `Recorder.note`. */
function defines(text: string, name: string): boolean {
  const [first = '', method] = name.split('.')
  if (!new RegExp(`^(?:export )?(?:async )?(?:function\\*?|const|class) ${first}\\b`, 'm').test(text)) return false
  return method === undefined || new RegExp(`^  (?:static )?(?:async )?\\*?${method}[<(]`, 'm').test(text)
}
