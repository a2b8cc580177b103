import { describe, expect, test } from 'vitest'
import { readMigrations } from './migrate.ts'
import { BASELINE_VERSION, hasKind, kindOf } from './migration-kind.ts'

/**
 * The rules for migrations behind the baseline, because programs of the version before run beside the new schema:
 * - The first line says `-- expand` or `-- contract, minimum_version N`.
 * - An expanding migration only adds. It removes and renames nothing, and makes no value invalid that was valid.
 * - A contracting migration raises `minimum_version`, at most to its own version.
 */
const later = (await readMigrations()).filter(({ version }) => version > BASELINE_VERSION)

test.each(later.map(migration => [migration.name, migration] as const))('%s follows the rules', (_, migration) => {
  expect(hasKind(migration), 'its first line says `-- expand` or `-- contract, minimum_version N`').toBe(true)
  if (kindOf(migration).kind === 'expand') expect(mistakesIn(migration.text)).toEqual([])
})

test('each contracting migration raises minimum_version, at most to its own version', () => {
  let before = 0
  for (const migration of later) {
    const change = kindOf(migration)
    if (change.kind === 'expand') continue
    expect(change.minimumVersion, migration.name).toBeGreaterThan(before)
    expect(change.minimumVersion, migration.name).toBeLessThanOrEqual(migration.version)
    before = change.minimumVersion
  }
})

describe('the first line', () => {
  test.each([
    ['-- expand\nselect 1', { kind: 'expand' }, true],
    ['-- contract, minimum_version 17\nselect 1', { kind: 'contract', minimumVersion: 17 }, true],
    ['-- contract\nselect 1', { kind: 'expand' }, false],
    ['-- Senders and templates\nselect 1', { kind: 'expand' }, false],
  ])('%j', (text, kind, isStated) => {
    expect(kindOf({ text })).toEqual(kind)
    expect(hasKind({ text })).toBe(isStated)
  })
})

describe('an expanding migration', () => {
  test.each([
    'alter table messages add column a integer',
    'alter table messages add column a integer not null default 0, add column b text',
    'alter table messages alter column text drop not null',
    'alter table messages drop constraint messages_status_check; alter table messages add constraint messages_status_check check (true)',
    'create table a (b integer not null unique); create unique index on a (b); alter table a alter column b set not null',
    'create index on messages (status)',
    "comment on column messages.text is 'renamed; drop column'",
    '-- drop table messages\nselect 1',
    "create function f() returns void language sql as $$ delete from messages $$; select 'truncate'",
    "alter type message_status add value 'LATE'",
  ])('may contain: %s', text => expect(mistakesIn(text)).toEqual([]))

  test.each([
    'drop table messages',
    'drop index messages_key',
    'DROP FUNCTION f()',
    'alter table messages drop column text',
    'alter table messages drop text',
    'alter table messages alter column text drop default',
    'alter table messages rename to letters',
    'alter table messages rename column text to body',
    'alter table messages alter column text set not null',
    'alter table messages alter text set not null',
    'alter table messages alter column parts type bigint',
    'alter table messages alter parts set data type bigint',
    'alter table messages add column a integer not null',
    'alter table messages add a integer not null, add b text default 1',
    "alter table messages add constraint short check (text < 'x')",
    'alter table messages add unique (text)',
    'alter table only messages add foreign key (a) references b',
    'create unique index on messages (text)',
    'create unique index concurrently if not exists k on only messages (text)',
    'truncate messages',
    'delete from messages',
    "alter type message_status rename value 'SENT' to 'GONE'",
    'do $$ begin alter table messages drop column text; end $$',
    'revoke all on messages from public',
  ])('may not contain: %s', text => expect(mistakesIn(text)).toHaveLength(1))
})

/** Statements of an expanding migration that may break a running program. */
function mistakesIn(text: string): string[] {
  const statements = statementsOf(text)
  const created = new Set(statements.flatMap(each => /^create (?:unlogged )?table (\w+)/.exec(each)?.[1] ?? []))
  const dropped = new Set(
    statements.flatMap(each => [...each.matchAll(/drop constraint (?:if exists )?(\w+)/g)].map(([, name]) => name)),
  )
  return statements.filter(each => !created.has(tableOf(each) ?? '') && isMistake(each, dropped))
}

const tableOf = (statement: string) =>
  /^alter table (?:if exists )?(?:only )?(\w+)/.exec(statement)?.[1] ??
  /^create unique index .*?\bon (?:only )?(\w+)/.exec(statement)?.[1]

function isMistake(statement: string, dropped: Set<string | undefined>): boolean {
  if (/^(drop|truncate|delete|revoke|create unique index)\b/.test(statement)) return true
  if (/^alter type/.test(statement)) return !/ add value /.test(statement)
  return /^alter/.test(statement) && statement.split(/,(?![^(]*\))/).some(action => breaksPrograms(action, dropped))
}

function breaksPrograms(action: string, dropped: Set<string | undefined>): boolean {
  if (/\brename\b|\bset not null\b|\btype\b/.test(action)) return true
  if (/\bdrop\b/.test(action)) return !/\bdrop (not null|constraint)\b/.test(action)
  const constraint = /\badd (constraint (\w+)|check|unique|foreign key|primary key|exclude)/.exec(action)
  if (constraint) return !dropped.has(constraint[2])
  return /\badd\b.*\bnot null\b/.test(action) && !/\bdefault\b|\bgenerated\b/.test(action)
}

/** In lower case, without comments, texts and the bodies of functions. The statements of a DO block are included. */
function statementsOf(text: string): string[] {
  return text
    .replace(/--.*$/gm, '')
    .replace(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .replace(/create (?:or replace )?function.*?\$(\w*)\$.*?\$\1\$/gs, 'create function')
    .replace(/do\s+\$\w*\$|\bbegin\b|\$\w*\$/g, ';')
    .split(';')
    .map(each => each.replace(/\s+/g, ' ').trim())
    .filter(each => each !== '' && each !== 'end')
}
