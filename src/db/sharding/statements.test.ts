import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { placementOf } from './placement.ts'

/**
 * Holds the rules of docs/citus.md for the statements of the program, as far as their texts show it. A part of a
 * statement that another function returns is not seen.
 */
const sources = new URL('../../', import.meta.url).pathname
const schema = readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')
const tables = new Set([...schema.matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(([, name]) => name!))

const isTenant = (table: string | undefined) =>
  table !== undefined && tables.has(table) && placementOf(table) === 'company'

type Statement = { file: string; text: string }

const statements: Statement[] = filesIn(sources).flatMap(file =>
  templatesIn(readFileSync(file, 'utf8')).map(text => ({ file: file.slice(sources.length), text })),
)

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'testing' ? [] : filesIn(path)
    return /(?<!\.test)\.ts$/.test(entry.name) ? [path] : []
  })
}

/** The texts of the outermost SQL templates. Parts inside them are included, and a value is written as `?`. */
function templatesIn(source: string): string[] {
  const found: string[] = []
  const tag = /\b(?:sql|pool|lock|tx)(?:<[^`]*?>)?`/g
  for (let match = tag.exec(source); match; match = tag.exec(source)) {
    const { text, end } = readTemplate(source, tag.lastIndex)
    found.push(text.replaceAll(/\s+/g, ' ').trim())
    tag.lastIndex = end
  }
  return found
}

/** Reads from behind the opening backtick. */
function readTemplate(source: string, start: number): { text: string; end: number } {
  let text = ''
  for (let i = start; i < source.length; i++) {
    if (source[i] === '`') return { text, end: i + 1 }
    if (source[i] === '\\') text += source[i++]
    if (source.startsWith('${', i)) {
      const expression = readExpression(source, i + 2)
      text += expression.text
      i = expression.end - 1
    } else text += source[i]
  }
  throw new Error('a template does not end')
}

/** The templates inside an expression, the column of `reachable`, or `?`. */
function readExpression(source: string, start: number): { text: string; end: number } {
  let text = ''
  let depth = 0
  for (let i = start; i < source.length; i++) {
    if (source[i] === '`') {
      const inner = readTemplate(source, i + 1)
      if (/sql(?:<[^`]*?>)?$/.test(source.slice(start, i))) text += ` ${inner.text} `
      i = inner.end - 1
    } else if (source[i] === '{') depth += 1
    else if (source[i] === '}' && depth-- === 0)
      return { text: text || limitIn(source.slice(start, i)) || '?', end: i + 1 }
  }
  throw new Error('an expression does not end')
}

/** `reachable(sql, 'm.company_id')` is written as `reachable:m.company_id`. */
function limitIn(expression: string): string | undefined {
  const call = /^reachable\(\w+(?:, '([\w.]+)')?\)$/.exec(expression)
  return call ? `reachable:${call[1] ?? 'company_id'}` : undefined
}

const tablesIn = (text: string) =>
  [...text.matchAll(/\b(?:from|join|into|update|using)\s+(?:only\s+)?(\w+)/g)].map(([, table]) => table!)
const readsTenant = (text: string) => tablesIn(text).some(isTenant)

/** `company_id = ${companyId}`, or a part of a statement that is not seen. */
const namesCompany = (text: string) => /company_id(?:::\w+)? = \?|where \?/.test(text)

const changes = (text: string) => [
  ...text.matchAll(/\b(?:update|delete from)\s+(\w+)\s(?!of\b).*?(?=\b(?:update|delete from) \w+ |$)/g),
]
const writesTenant = (text: string) =>
  changes(text).some(([, table]) => isTenant(table)) ||
  ([...text.matchAll(/insert into (\w+)/g)].some(([, table]) => isTenant(table)) && text.includes('on conflict'))

/** The texts inside parentheses, each without the parentheses inside it. */
function subqueriesOf(text: string): string[] {
  const open = ['']
  const found: string[] = []
  for (const sign of text) {
    if (sign === '(') open.push('')
    else if (sign === ')' && open.length > 1) found.push(open.pop()!.trim())
    else open.push(open.pop()! + sign)
  }
  return found
}

/** The selects of a statement, each without the selects inside it. */
const selectsOf = (text: string) => subqueriesOf(`(${text})`).flatMap(part => part.split(/ union (?:all )?/))

/**
 * Whether a statement limits a table to the reachable companies and another table not. Citus needs no limit of the inner
 * side of an outer join. A table whose name is a value counts as a table of companies.
 */
const limitsSomeTables = (text: string) =>
  text.includes('reachable:') && selectsOf(text).some(select => !areLimited(namesOfTables(select), select))

function areLimited(names: string[], select: string): boolean {
  const limited = new Set([...select.matchAll(/reachable:([\w.]+)/g)].map(([, column]) => column!))
  if (names.length === 1 && limited.has('company_id')) return true
  return names.every(name => limited.has(`${name}.company_id`))
}

/** The aliases of the tables of companies in a select, and the names of tables without alias. */
const namesOfTables = (select: string) =>
  [...select.matchAll(TABLE_WITH_ALIAS)]
    .filter(([, table]) => table === '?' || isTenant(table))
    .map(([, table, alias]) => alias ?? table!)
const TABLE_WITH_ALIAS =
  /(?:\bfrom|(?<!\bleft )\bjoin|,) (\w+|(?<!,.)\?)(?: (?:as )?(?!(?:from|on|where|left|join|cross|order|group|limit|using)\b)(\w+))?/g

type Rule = { name: string; isBroken: (text: string) => boolean }

const rules: Rule[] = [
  {
    name: 'no clock_timestamp(), gen_random_uuid() or random() where rows of companies change',
    isBroken: text => /clock_timestamp\(|gen_random_uuid\(|random\(/.test(text) && writesTenant(text),
  },
  {
    name: 'a recursive query names one company',
    isBroken: text => /with recursive/.test(text) && readsTenant(text) && !namesCompany(text),
  },
  {
    name: 'a lateral join names one company, or begins with companies',
    isBroken: text =>
      /\blateral \(/.test(text) &&
      readsTenant(text) &&
      /^(?:with|select)/.test(text) &&
      !namesCompany(text) &&
      !/from companies\b/.test(text),
  },
  {
    name: 'a change names one company',
    isBroken: text => changes(text).some(([change, table]) => isTenant(table) && !namesCompany(change)),
  },
  {
    name: 'a lock of rows names one company',
    isBroken: text => /\bfor (?:update|share|no key update)\b/.test(text) && readsTenant(text) && !namesCompany(text),
  },
  {
    name: 'a subquery with limit has a column',
    isBroken: text => readsTenant(text) && subqueriesOf(text).some(part => /^select from\b.* limit /.test(part)),
  },
  {
    name: 'an update has no "case status when": Citus makes an invalid statement of it',
    isBroken: text => changes(text).some(([change, table]) => isTenant(table) && /\bcase (?!when\b)/.test(change)),
  },
  {
    name: 'an insert of selected rows of companies names one company',
    isBroken: text =>
      [...text.matchAll(/insert into (\w+)(?: as \w+)?(?: \([^)]*\))? (select .*)/g)].some(
        ([, table, select]) => isTenant(table) && !(readsTenant(select!) && namesCompany(select!)),
      ),
  },
  {
    name: 'no insert of rows of companies inside WITH',
    isBroken: text => [...text.matchAll(/\bas \( ?insert into (\w+)/g)].some(([, table]) => isTenant(table)),
  },
  { name: 'a limit to the reachable companies is at every table', isBroken: limitsSomeTables },
  {
    name: 'a list of companies has no second limit to the reachable companies',
    isBroken: text => text.includes('reachable:') && /company_id = any\(\?/.test(text),
  },
]

const NUMBERED = 'the coordinator numbers the rows anyway, and collects them for it'
const CODES = 'the writing of codes has several inserts in one statement: there Citus refuses a select from companies'
const OF_MONTH = 'the sums of a month come from a table of the session, which only the coordinator has'
const OF_ONE_COMPANY = 'the first part of the statement names the company, and the second has it by a join'

/** Statements that break a rule: a part of the text, with the reason. */
const exceptions: Record<string, string> = {
  'delete from receivers r where served_at < ?': 'housekeeping: Citus deletes in every shard',
  'delete from callback_tests where requested_at < ?': 'housekeeping: Citus deletes in every shard',
  'with lane as ( update lanes set cursor = tail, end_at = null': OF_ONE_COMPANY,
  'served as ( update lanes set served_at = statement_timestamp() from lane': OF_ONE_COMPANY,
  'insert into callbacks (company_id, receiver, url, api, events,': NUMBERED,
  'with given as ( select given.* from json_to_recordset': 'the results of callbacks change rows and insert attempts',
  'insert into lanes ( company_id, dispatch_id, channel_type, priority, sender_name, sender_id,': NUMBERED,
  'insert into leases (company_id, lane_id, first_seq, next_seq, claimed_until, attempts,': NUMBERED,
  'insert into verification_limits (company_id, subject, since, count, last_at, streak) select': CODES,
  'insert into verification_limits as l (company_id, subject, since,': CODES,
  'insert into verifications (company_id, verification_uuid,': CODES,
  'insert into verification_counters as k (company_id, verifier_id, day, channel_type, country, what, count, cost)':
    CODES,
  'insert into closed_months (': OF_MONTH,
  'insert into closed_recipients select': OF_MONTH,
  'with company as ( insert into companies': 'the account needs the id that the company gets; seldom used',
}

const reasonOf = ({ text }: Statement) => Object.keys(exceptions).find(part => text.includes(part))

describe('statements', () => {
  test('are found in the sources', () => {
    expect(statements.length).toBeGreaterThan(500)
    expect(statements.filter(({ text }) => writesTenant(text)).length).toBeGreaterThan(50)
  })

  test.each([
    ['a subquery with limit', 'select count(*) from (select from lanes where company_id = ? and (open) limit ?) q'],
    ['a recursive query', 'with recursive w as (select receiver from callbacks) select from w'],
    ['an update has no', "update lanes set open = case status when 'SENT' then true end where company_id = ?"],
    ['an insert of selected', 'insert into blacklist (company_id, destination) select ?, d from unnest(?) d'],
    ['a limit', 'select 1 from lanes l join companies c on true where l.open reachable:l.company_id'],
    ['a limit', 'select 1 from lanes l, companies c where l.open reachable:c.company_id'],
    ['a limit', 'select 1 from lanes where not exists (select from leases e where e.worker = ?) reachable:company_id'],
    ['a limit', 'select 1 from lanes where open reachable:company_id union all select 1 from ? r where open limit ?'],
    [
      'a limit',
      'select 1 from companies c left join lateral (select 1 from lanes) l on true where reachable:c.company_id',
    ],
    ['a list of companies', 'select 1 from lanes where company_id = any(?::bigint[]) reachable:company_id'],
  ])('a broken rule is noticed: %s', (name, text) => {
    expect(rules.filter(({ isBroken }) => isBroken(text)).map(rule => rule.name)).toEqual([
      expect.stringContaining(name),
    ])
  })

  test.each(rules)('$name', ({ isBroken }) => {
    expect(statements.filter(statement => isBroken(statement.text) && !reasonOf(statement))).toEqual([])
  })

  test('are noticed when one of their limits to the reachable companies is missing', () => {
    const limited = statements.filter(({ text }) => text.includes('reachable:'))
    const limits = limited.flatMap(({ text }) =>
      [...text.matchAll(/reachable:[\w.]+/g)].map(limit => ({ text, limit })),
    )
    const calls = filesIn(sources).flatMap(file => [...readFileSync(file, 'utf8').matchAll(/\$\{reachable\(/g)])
    expect(limits).toHaveLength(calls.length)
    const without = limits.map(
      ({ text, limit: { index, 0: limit } }) => text.slice(0, index) + text.slice(index + limit.length),
    )
    expect(without.filter(text => !limitsSomeTables(`${text} reachable:`))).toEqual([])
  })

  test('with a changing number of rows insert them by insertPieces', () => {
    const inserts = filesIn(sources).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/insert into \w+ \$\{\w+\((\w+)/g)].map(([, rows]) => ({ file, rows })),
    )
    expect(inserts.length).toBeGreaterThan(3)
    expect(inserts.filter(({ rows }) => rows !== 'piece')).toEqual([])
  })

  test.each(Object.keys(exceptions).map(part => [part]))('the exception "%s" is needed', part => {
    const own = statements.filter(({ text }) => text.includes(part))
    expect(own.some(({ text }) => rules.some(({ isBroken }) => isBroken(text)))).toBe(true)
  })
})
