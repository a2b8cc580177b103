import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { placementOf } from '../../src/db/sharding/placement.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { startEngine } from '../../src/engine/engine.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { isCluster } from '../../src/testing/one-server.ts'
import { explain, type Statement } from '../../src/testing/plans.ts'
import { aSingleMessage } from '../../src/testing/traffic.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../src/testing/world.ts'

const db = useDatabase()
let numbering: Numbering

/** Statements of the life of a dispatch and of a single message, from the request to the callback. */
describe.skipIf(!isCluster)('the statements that send messages (needs a Citus cluster)', () => {
  const statements = new Map<string, Statement>()

  beforeAll(async () => {
    numbering = await loadNumbering(db.sql)
    const sql = connect(db.url, { max: 10 })
    await sql`select 1`
    const debug = (_: number, text: string, parameters: unknown[], types: number[]) => {
      statements.set(text, { text, parameters, types })
    }
    Object.assign(sql.options, { debug })
    await sendMessages(sql)
    await sql.end({ timeout: 1 })
  }, 120_000)

  test('ask one node each, except the searches for work of all companies: the table of the docs', async () => {
    const found = new Map<string, Reach>()
    for (const statement of statements.values()) {
      if (
        !tablesIn(statement.text).some(isTenant) &&
        !/lease_chunks|lease_with_messages|finish_leases|check_codes/.test(statement.text)
      )
        continue
      const [name, reach] = [nameOf(statement.text), await reachOf(statement)]
      found.set(name, widest(found.get(name) ?? reach, reach))
    }
    const allShards = [...found].filter(([, reach]) => reach === 'all shards').map(([name]) => name)
    expect(allShards.filter(name => !/^(search|delete) /.test(name))).toEqual([])
    const rows = [...found].map(([name, reach]) => `| ${name} | ${reach} |`).sort()
    expect(rowsInDocs(), rows.join('\n')).toEqual(rows)
  }, 120_000)
})

function rowsInDocs(): string[] {
  const docs = readFileSync(new URL('../../docs/citus.md', import.meta.url), 'utf8')
  const [, table] = docs.split('| Statement | |\n|---|---|\n')
  return table!.split('\n\n')[0]!.split('\n').sort()
}

/** A dispatch and a single message that are sent and delivered, and whose callbacks are accepted. */
async function sendMessages(sql: Pool) {
  let calls = 0
  const receiver = createServer((request, response) => {
    calls += 1
    request.resume().on('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const world = await aWorld(sql)
  await aGateway(sql)
  const engine = await startEngine({
    sql,
    log: pino({ level: 'silent' }),
    moderation: 'manual',
    billingZone,
    callbacks: { allow: ['127.0.0.0/8'] },
  })
  const dispatchId = await aDispatch(sql, numbering, world, someRecipients(20), {
    callbackUrl,
    callbackEvents: ['delivered'],
  })
  await start(sql, world, dispatchId)
  await aSingleMessage(sql, numbering, world, { callbackUrl, callbackEvents: ['delivered'] })
  await eventually(() => expect(calls).toBeGreaterThanOrEqual(2))
  await eventually(async () => {
    const left = await db.sql`select from callbacks where status = 'WAITING'`
    expect(left).toHaveLength(0)
  })
  await engine.stop()
  receiver.close()
}

const tablesIn = (text: string) =>
  [...text.matchAll(/\b(?:from|join|into|update|copy)\s+"?(\w+)"?/g)].map(([, table]) => table!)

const isTenant = (table: string) => tenants.has(table)

const schema = readFileSync(new URL('../../schema.sql', import.meta.url), 'utf8')
const tenants = new Set(
  [...schema.matchAll(/^create (?:unlogged )?table (\w+)/gm)]
    .map(([, name]) => name!)
    .filter(name => placementOf(name) === 'company'),
)

/** The verb and the table of a statement; a search names no company. */
function nameOf(text: string): string {
  const call = /lease_chunks|lease_with_messages|finish_leases|check_codes/.exec(text)
  if (call) return `${call[0]}()`
  const change = /\b(update|insert into|delete from|copy)\s+"?(\w+)"?/.exec(text.replaceAll(/for update of/g, ''))
  if (change) return `${change[1]!.split(' ')[0]} ${change[2]}`
  const tables = tablesIn(text).filter(isTenant)
  return `${/company_id = \$/.test(text) ? 'select' : 'search'} ${tables[0]}`
}

/** From the narrowest to the widest. */
const REACHES = ['the coordinator', 'one node', 'in several steps', 'all shards'] as const
type Reach = (typeof REACHES)[number]

const widest = (a: Reach, b: Reach): Reach => (REACHES.indexOf(a) > REACHES.indexOf(b) ? a : b)

/** How many nodes the plan of a statement needs. Rows that are copied are all of one company. */
async function reachOf(statement: Statement): Promise<Reach> {
  if (/^\s*copy\b/i.test(statement.text)) return 'one node'
  const plan = JSON.stringify(await explain(db.url, statement).catch(ofSeveralPlans))
  const tasks = [...plan.matchAll(/"Task Count":(\d+)/g)].map(([, count]) => Number(count))
  if (/pull to coordinator|"Subplans"/.test(plan)) return 'in several steps'
  if (tasks.length === 0) return 'the coordinator'
  return Math.max(...tasks) === 1 ? 'one node' : 'all shards'
}

/** Citus cannot explain an insert whose rows come from another change. It runs it in several steps. */
function ofSeveralPlans(error: Error): string {
  if (!/could not create distributed plan/.test(error.message)) throw error
  return 'pull to coordinator'
}
