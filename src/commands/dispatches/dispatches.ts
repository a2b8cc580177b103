import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsageError } from '../../base/errors.ts'
import { moneyToNumber } from '../../base/money.ts'
import { printable } from '../../base/printable.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { type Dispatch, dispatchStatuses, type Progress } from '../../domain/dispatches/dispatch.ts'
import { startDispatch, stopDispatch } from '../../domain/dispatches/lifecycle.ts'
import { listDispatches, requireAnyDispatch } from '../../domain/dispatches/reading.ts'
import { failuresOf } from '../../domain/messages/messages.ts'
import { requirePartner } from '../../domain/partners/partners.ts'
import { reasonsToWait } from '../../domain/waiting/waiting.ts'
import { noCompany, noDispatch, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idArgument, idOption } from '../command-line.ts'
import { refusalToWrite } from '../file.ts'
import { shownAmount } from '../money.ts'
import { choiceOption, limitOption } from '../options.ts'
import { reasonOf } from '../reasons.ts'
import { recorded } from '../recorded.ts'
import { details, moreNote, table } from '../table.ts'
import { waitSentence } from '../wait-reasons.ts'

export async function listSome(call: Call) {
  const companyId = idOption(call, 'company')
  const status = choiceOption(call, 'status', dispatchStatuses)
  const limit = limitOption(call)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const { total, items } = await listDispatches(sql, companyId, status, 1, limit)
    call.print({ total, items: items.map(present) }, tableOf(items) + moreNote(items.length, total))
  })
}

export async function showOne(call: Call) {
  await onDispatch(call, async (sql, dispatch) => {
    const failures = await failuresOf(sql, dispatch)
    const isWaiting = dispatch.status === 'STARTED'
    const reasons = isWaiting ? await reasonsToWait(sql, dispatch, await databaseNow(sql)) : []
    const waitsFor = reasons.map(waitSentence)
    const shown = failures.map(({ errorCode, messages }) => ({
      errorCode,
      reason: reasonOf(errorCode),
      count: messages,
    }))
    call.print(
      { ...present(dispatch), text: dispatch.text, failures: shown, waitsFor },
      [
        detailsOf(dispatch),
        ...shown.map(({ errorCode, reason, count }) => `  ${count} x ${errorCode} ${reason}`),
        ...waitsFor,
      ].join('\n'),
    )
  })
}

export const startOne = (call: Call) => move(call, 'dispatch.started', startDispatch)
export const stopOne = (call: Call) => move(call, 'dispatch.stopped', stopDispatch)

async function move(call: Call, what: AuditAction, change: typeof startDispatch) {
  await onDispatch(call, async (sql, { dispatchId, companyId, name, status: before }) => {
    const { partnerId } = await requireAnyCompany(sql, companyId)
    const billing = { billingZone: call.config.billingZone, now: await databaseNow(sql) }
    const partner = await requirePartner(sql, partnerId)
    const status = await recorded(sql, async (tx, record) => {
      await change(tx, partner, dispatchId, billing)
      const { status } = await requireAnyDispatch(tx, dispatchId)
      const subject = { kind: 'dispatch', id: dispatchId, name: name ?? '' }
      await record({ what, subject, companyId, before: { status: before }, after: { status } })
      return status
    })
    call.print({ dispatchId, status }, `Dispatch ${dispatchId} is ${status}.`)
  })
}

/** The CSV of the partner API, to standard output or into a new file. */
export async function reportOne(call: Call) {
  const { to } = call.options
  if (to === undefined && call.switches.json) throw new UsageError('--json needs --to FILE: the report itself is CSV.')
  const { reportLines } = await import('../../http/partner/reports.ts') // the schemas of a route take a while to load
  await onDispatch(call, async (sql, dispatch) => {
    const lines = Readable.from(reportLines(sql, dispatch), { highWaterMark: 1 })
    if (to === undefined) return printReport(lines)
    await pipeline(lines, createWriteStream(to, { flags: 'wx' })).catch(error => {
      throw error.syscall === 'open' ? new UsageError(refusalToWrite(to, error)) : error
    })
    const { dispatchId, messageCount } = dispatch
    call.print(
      { dispatchId, file: to, messages: messageCount },
      `The report of dispatch ${dispatchId} with ${messageCount} messages is in ${to}.`,
    )
  })
}

/** On a terminal control characters of texts are written out; a file or another program gets them as they are. */
async function printReport(lines: Readable) {
  const { stdout } = process
  for await (const piece of lines) {
    const shown = stdout.isTTY ? piece.split('\r\n').map(printable).join('\n') : piece
    if (!stdout.write(shown)) await roomOrEnd(stdout)
    if (stdout.destroyed) return // the reader has seen enough
  }
}

/** A reader such as `head` goes away, and then there is never room again. */
const roomOrEnd = (stream: NodeJS.WriteStream) =>
  new Promise<void>(resume => {
    const done = () => {
      for (const event of ['drain', 'close', 'error']) stream.off(event, done)
      resume()
    }
    for (const event of ['drain', 'close', 'error']) stream.once(event, done)
  })

type Shown = Dispatch & Progress
type Found = Awaited<ReturnType<typeof requireAnyDispatch>>

async function onDispatch(call: Call, work: (sql: Pool, dispatch: Found) => Promise<void>) {
  const dispatchId = idArgument(call, 'ID')
  await withDatabase(call.config, async ({ sql }) => {
    await work(sql, await orAdvise(noDispatch(dispatchId), requireAnyDispatch(sql, dispatchId)))
  })
}

const present = (d: Shown) => ({
  dispatchId: d.dispatchId,
  companyId: d.companyId,
  name: d.name,
  status: d.status,
  channelType: d.channelType,
  messages: d.messages,
  parts: d.parts,
  priceEstimate: { total: moneyToNumber(d.priceEstimate), currency: d.currency },
  createdAt: d.createdAt.toISOString(),
  startedAt: d.startedAt?.toISOString() ?? null,
})

const detailsOf = (d: Found) =>
  details([
    ['Dispatch', d.dispatchId],
    ['Name', d.name],
    ['Company', d.companyId],
    ['Status', d.status],
    ['Channel', d.channelType],
    ['Text', d.text],
    ['Created', d.createdAt.toISOString()],
    ['Started', d.startedAt?.toISOString()],
    ['Price', `at most ${shownAmount(d.priceEstimate, d.currency)}`],
    ['Messages', d.messages.total],
    ['Waiting', d.waiting],
    ['Sent', d.awaitingReceipt],
    ['Delivered', d.messages.delivered],
    ['Failed', d.messages.failed],
  ])

const tableOf = (dispatches: Shown[]) =>
  table(
    ['ID', 'STATUS', 'CHANNEL', 'CREATED', 'MESSAGES', 'DELIVERED', 'FAILED', 'NAME'],
    dispatches.map(d => [
      d.dispatchId,
      d.status,
      d.channelType,
      d.createdAt.toISOString().slice(0, 16),
      d.messages.total,
      d.messages.delivered,
      d.messages.failed,
      d.name,
    ]),
  )
