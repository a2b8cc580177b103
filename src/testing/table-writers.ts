import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `for update`, `on conflict do update set` and `update of` in triggers do not write a table of that name. */
const WRITE =
  /\b(?:insert\s+into|update(?!\s+(?:of|set|skip|nowait)\b)|delete\s+from|truncate)\s+(?:only\s+)?([a-z_]{3,})|\bcopyInto\(\s*\w+,\s*'([a-z_]+)'/g

/** The folders whose code writes each table, read from the SQL in the sources. */
export function writersOfTables(): Map<string, Set<string>> {
  const tables = tablesOfSchema()
  const writers = new Map<string, Set<string>>()
  for (const file of sources()) {
    for (const table of tablesWrittenBy(readFileSync(join(root, file), 'utf8'))) {
      if (tables.has(table)) writers.set(table, (writers.get(table) ?? new Set()).add(dirname(file)))
    }
  }
  return writers
}

export const tablesWrittenBy = (code: string): string[] =>
  [...withoutComments(code).matchAll(WRITE)].flatMap(([, written, copied]) => written ?? copied ?? [])

const withoutComments = (code: string) => code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '')

const sources = (): string[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map(file => `src/${file}`)
    .filter(file => file.endsWith('.ts') && !/\.(test|contract)\.ts$/.test(file) && !file.startsWith('src/testing/'))

const tablesOfSchema = (): Set<string> =>
  new Set(
    [...readFileSync(join(root, 'schema.sql'), 'utf8').matchAll(/create table (\w+)/gi)].map(([, name = '']) => name),
  )
