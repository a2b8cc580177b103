import { money } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { storeDocument } from '../../domain/documents/documents.ts'
import type { Brand } from '../../domain/numbering/brand.ts'
import type { TestApi } from '../api.ts'
import { aCompany, anApprovedSender, aPartner, aSender, numberOf, type TestPartner } from '../factories.ts'

/** Two partners with every object that a request can name: our own, and a foreign partner that must stay unknown. */
export type World = { mine: Side; foreign: Side }

export type Side = {
  partner: TestPartner
  companyId: number
  senderIds: Record<Brand, number>
  /** A sender name in a state in which every field can be changed. */
  draftId: number
  documentId: string
  /** A dispatch that takes messages. */
  dispatchId: number
  /** A dispatch that has been started. */
  runningId: number
}

export const PDF = Buffer.from('%PDF-1.7\n%%EOF\n')
export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])
export const JPG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0])

export const UNKNOWN_ID = 999_999_999
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

export async function aWorld(api: TestApi): Promise<World> {
  return { mine: await aSide(api), foreign: await aSide(api) }
}

async function aSide(api: TestApi): Promise<Side> {
  const { sql } = api
  const partner = await aPartner(sql)
  const companyId = await aCompany(sql, partner, { budget: money('100000') })
  const senderIds = await approvedSenders(sql, companyId)
  const { senderId: draftId } = await aSender(sql, companyId)
  const { id: documentId } = await storeDocument(sql, companyId, { filename: 'charter.pdf', content: PDF })
  const create = async () => {
    const body = { ...aDispatch(companyId, Object.values(senderIds)) }
    const answer = await api.call({ method: 'POST', path: '/dispatches', token: partner.token, body })
    return answer.body.id as number
  }
  const dispatchId = await create()
  const runningId = await create()
  await api.call({ method: 'POST', path: `/dispatches/${runningId}/start`, token: partner.token })
  return { partner, companyId, senderIds, draftId, documentId, dispatchId, runningId }
}

export async function approvedSenders(sql: Pool, companyId: number): Promise<Record<Brand, number>> {
  const ids = {} as Record<Brand, number>
  for (const brand of Object.keys(numberOf) as Brand[]) {
    ids[brand] = (await anApprovedSender(sql, companyId, { brand })).senderId
  }
  return ids
}

export const aDispatch = (companyId: number, senderIds: number[], given: Record<string, unknown> = {}) => ({
  companyId,
  name: 'Summer sale',
  senderIds,
  channelType: 'SMS',
  text: 'Hello',
  messages: [{ destination: numberOf.MTS }],
  ...given,
})

/**
 * Tables that change without a request: the request log, which also has refused requests, and heartbeats of processes.
 */
const LOGS = ['requests', 'request_minutes', 'key_uses', 'api_processes']

/**
 * A fingerprint of every row of every table, without these logs and the named tables. If the fingerprints before and
 * after a refusal are equal, the refused request changed nothing.
 */
export async function printOfTables(sql: Pool, besides: string[] = []): Promise<Record<string, string>> {
  const rows = (await sql.unsafe(await printing(sql, besides))) as unknown as { name: string; print: string }[]
  return Object.fromEntries(rows.map(({ name, print }) => [name, print]))
}

const known = new Map<string, string>()

/** The query of the fingerprint, made once, because the list of tables does not change. */
async function printing(sql: Pool, besides: string[]): Promise<string> {
  const key = besides.join()
  if (!known.has(key)) {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
    const prints = tables
      .map(({ name }) => name)
      .filter(name => !LOGS.includes(name) && !besides.includes(name))
      .map(
        name => `select '${name}' as name, count(*) || ' rows ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)
        as print from ${name} t`,
      )
    known.set(key, prints.join(' union all '))
  }
  return known.get(key)!
}
