import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../src/db/sql.ts'
import { addGateway } from '../src/domain/gateways/gateways.ts'
import { jsonOf, openConnection, requestBytes } from './client.ts'
import type { Figure } from './figures.ts'
import { dispatchOf, inventRecipients, REQUEST_SIZE } from './recipients.ts'
import type { Stage } from './stage.ts'

const DISPATCH = 1_000_000
/** With more, a fast machine could finish the dispatch before the last of them. */
const CODES = 300
const WARM_UP = 20
const EVERY_MS = 50
/** The last codes are handed over by then. */
const RUN_OUT_MS = 2000

/** A simulated operator that carries everything, and approved sender names. */
export async function addSimulator(sql: Pool) {
  await addGateway(sql, {
    name: 'simulator',
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: { receiptMs: 0 },
    partsPerSecond: null,
  })
  await sql`update senders set status = 'APPROVED'`
}

/**
 * From accepted to handed over: codes on an idle system, and while a dispatch of the same company goes out.
 * `sendCode` resolves with the uuid of a message when it is accepted.
 */
export async function codesBehindDispatch(
  stage: Stage,
  port: number,
  sendCode: () => Promise<string>,
  mostRatio: number | undefined,
  dispatch = DISPATCH,
): Promise<Figure[]> {
  await timesOf(stage, sendCode, WARM_UP) // the first code also starts the thread that sends codes
  const idle = await timesOf(stage, sendCode)
  const dispatchId = await createDispatch(stage, port, dispatch)
  const connection = await openConnection(port)
  await connection.ask(requestBytes(stage.partner.token, `POST /partner/v1/dispatches/${dispatchId}/start`))
  const loaded = await timesOf(stage, sendCode)
  const left = await pendingOf(stage, dispatchId)
  return [
    { what: 'p50 to accept a code, idle', value: at(idle.accepting, 0.5), unit: 'ms' },
    { what: 'p50 to accept a code, behind the dispatch', value: at(loaded.accepting, 0.5), unit: 'ms' },
    { what: 'p99 to accept a code, idle', value: at(idle.accepting, 0.99), unit: 'ms' },
    { what: 'p99 to accept a code, behind the dispatch', value: at(loaded.accepting, 0.99), unit: 'ms' },
    { what: 'p99 from asking to handed over, idle', value: at(idle.both, 0.99), unit: 'ms' },
    { what: 'p99 from asking to handed over, behind the dispatch', value: at(loaded.both, 0.99), unit: 'ms' },
    { what: 'p50 of a code, idle', value: at(idle.handing, 0.5), unit: 'ms' },
    { what: 'p99 of a code, idle', value: at(idle.handing, 0.99), unit: 'ms' },
    {
      what: `p50 of a code, behind a dispatch of ${dispatch.toLocaleString('en')}`,
      value: at(loaded.handing, 0.5),
      unit: 'ms',
    },
    {
      what: `p99 of a code, behind a dispatch of ${dispatch.toLocaleString('en')}`,
      value: at(loaded.handing, 0.99),
      unit: 'ms',
    },
    { what: 'messages of the dispatch left at the end', value: left, unit: '', target: { least: 1 } },
    {
      what: 'p99 of a code behind the dispatch, to idle',
      value: at(loaded.handing, 0.99) / at(idle.handing, 0.99),
      unit: '',
      ...(mostRatio === undefined ? {} : { target: { most: mostRatio } }),
    },
  ]
}

/** Milliseconds until codes were accepted, from then until they were handed over, and both together, in rising order. */
type Times = { accepting: number[]; handing: number[]; both: number[] }

const at = (sorted: number[], share: number) => sorted[Math.floor(sorted.length * share)]!

async function createDispatch(stage: Stage, port: number, size: number): Promise<number> {
  const connection = await openConnection(port)
  const body = dispatchOf(stage, inventRecipients(REQUEST_SIZE))
  const { id } = jsonOf(await connection.ask(requestBytes(stage.partner.token, 'POST /partner/v1/dispatches', body)))
  const more = requestBytes(stage.partner.token, `POST /partner/v1/dispatches/${id}/messages`, {
    messages: body.messages,
  })
  for (let sent = REQUEST_SIZE; sent < size; sent += REQUEST_SIZE) await connection.ask(more)
  return id
}

async function pendingOf({ sql, companyId }: Stage, dispatchId: number): Promise<number> {
  const [row] = await sql<{ pending: number }[]>`
    select coalesce(sum(created_messages + sent_messages), 0)::bigint as pending from dispatch_blocks
    where company_id = ${companyId} and dispatch_id = ${dispatchId}`
  return row!.pending
}

/** Codes one after another at a steady pace: from the commit that accepted each to the operator's yes. */
async function timesOf({ sql, companyId }: Stage, sendCode: () => Promise<string>, codes = CODES): Promise<Times> {
  const accepted = new Map<string, { at: number; tookMs: number }>()
  while (accepted.size < codes) {
    const asked = performance.now()
    const uuid = await sendCode()
    accepted.set(uuid, { at: Date.now(), tookMs: performance.now() - asked })
    await pause(EVERY_MS)
  }
  await pause(RUN_OUT_MS)
  const uuids = [...accepted.keys()]
  const handed = await sql<{ uuid: string; at: Date }[]>`
    select message_uuid as uuid, sent_at as at from messages
    where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and sent_at is not null`
  if (handed.length < codes) throw new Error(`only ${handed.length} of ${codes} codes were handed over`)
  const times = handed.map(({ uuid, at }) => {
    const { at: acceptedAt, tookMs } = accepted.get(uuid)!
    return { tookMs, handedMs: Math.max(0, at.getTime() - acceptedAt) }
  })
  const sorted = (of: (time: (typeof times)[number]) => number) => times.map(of).sort((a, b) => a - b)
  return {
    accepting: sorted(({ tookMs }) => tookMs),
    handing: sorted(({ handedMs }) => handedMs),
    both: sorted(({ tookMs, handedMs }) => tookMs + handedMs),
  }
}
