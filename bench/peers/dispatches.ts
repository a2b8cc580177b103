import { setTimeout as pause } from 'node:timers/promises'
import { jsonOf, openConnection, requestBytes } from '../client.ts'
import { openAmong } from '../engine.ts'
import { inventRecipients, REQUEST_SIZE } from '../recipients.ts'
import { load } from './load.ts'
import { measure, type Round, type Singles } from './measuring.ts'
import { TEXT } from './system.ts'
import { type Company, newCompany, type Tidings } from './tidings.ts'

const PATIENCE_MS = 300_000
const SETTLE_MS = 60_000

/** From the request that creates the dispatch to all of it COMPLETED. */
export function dispatchRound(tidings: Tidings, company: Company, size: number): Promise<Round> {
  return measure(tidings, async () => {
    const id = await createDispatch(tidings, company, size)
    await command(tidings, id, 'start')
    await untilCompleted(tidings, company, id)
  })
}

/**
 * Single messages while other messages are sent. The operator counts both together, so the database tells when the last single
 * message is delivered.
 */
export async function singlesAmongOthers(tidings: Tidings, connections: number, seconds: number): Promise<Singles> {
  const begun = performance.now()
  const result = await load(tidings, connections, seconds)
  if (!(await untilSettled(tidings))) throw new Error('single messages are not delivered after a minute')
  return {
    load: result,
    acceptedPerSecond: result.accepted / result.seconds,
    deliveredPerSecond: (result.accepted * 1000) / (performance.now() - begun),
  }
}

/** Waits until every message of the company is final. Gives up after a minute. */
export async function untilSettled({ sql, company }: Tidings): Promise<boolean> {
  const begun = performance.now()
  while (performance.now() - begun < SETTLE_MS) {
    const [row] = await sql<{ open: number }[]>`
      select count(*) as open from messages
      where company_id = ${company.companyId} and status in ('CREATED', 'SENT')`
    if (row?.open === 0) return true
    await pause(200)
  }
  return false
}

/** A large dispatch of another company. It is being sent when this returns. */
export async function startMillion(tidings: Tidings, size: number): Promise<number> {
  const company = await newCompany(tidings.sql, tidings.partner)
  const id = await createDispatch(tidings, company, size)
  await command(tidings, id, 'start')
  return id
}

/** The number of its messages that had no end when it was stopped. */
export async function stopMillion(tidings: Tidings, id: number): Promise<number> {
  const [row] = await tidings.sql<{ open: number }[]>`
    select coalesce(sum(created_messages + sent_messages), 0)::bigint as open from dispatch_blocks where dispatch_id = ${id}`
  if (row?.open) await command(tidings, id, 'stop') // a dispatch that is COMPLETED cannot be stopped
  await tidings.smsc.untilQuiet()
  return row?.open ?? 0
}

async function createDispatch(tidings: Tidings, { companyId, senderIds }: Company, size: number): Promise<number> {
  const connection = await openConnection(tidings.port())
  const recipients = inventRecipients(Math.min(size, REQUEST_SIZE)).map(({ destination }) => ({ destination }))
  const form = { companyId, name: 'Collection', senderIds, channelType: 'SMS', text: TEXT, messages: recipients }
  const { token } = tidings.partner
  const { id } = jsonOf(await connection.ask(requestBytes(token, 'POST /partner/v1/dispatches', form)))
  const more = requestBytes(token, `POST /partner/v1/dispatches/${id}/messages`, { messages: recipients })
  for (let sent = recipients.length; sent < size; sent += recipients.length) await connection.ask(more)
  connection.close()
  return id
}

async function command(tidings: Tidings, id: number, verb: 'start' | 'stop') {
  const connection = await openConnection(tidings.port())
  await connection.ask(requestBytes(tidings.partner.token, `POST /partner/v1/dispatches/${id}/${verb}`))
  connection.close()
}

async function untilCompleted({ sql }: Tidings, { companyId }: Company, id: number) {
  const begun = performance.now()
  while ((await openAmong(sql, companyId, [id])) > 0) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('the dispatch is not COMPLETED after five minutes')
    await pause(20)
  }
}
