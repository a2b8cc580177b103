import { AppError, UsageError } from '../../base/errors.ts'
import { moneyToNumber } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { withoutPassword } from '../../domain/callbacks/callback.ts'
import { listAllCompanies, requireAnyCompany } from '../../domain/companies/companies.ts'
import {
  createdAt,
  directions,
  type FoundMessage,
  statusTimeOf,
  statusWordOf,
  statusWords,
} from '../../domain/message-search/found-message.ts'
import { type Found, requireMessage, searchMessages } from '../../domain/message-search/message-search.ts'
import type { Filter } from '../../domain/message-search/search.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf } from '../command-line.ts'
import { shownAmount } from '../money.ts'
import { channelOption, choiceOption, limitOption, optionalId, readNumber, timeOption } from '../options.ts'
import { reasonOf } from '../reasons.ts'
import { details, moreNote, table } from '../table.ts'

type Located = FoundMessage & { companyId: number }

export async function findSome(call: Call) {
  const filter = filterIn(call)
  const limit = limitOption(call)
  const companyId = optionalId(call, 'company')
  if (companyId === undefined && !filter.destinations && !filter.messageIds) {
    throw new UsageError('--to or --id is required to search all companies; --company N searches one by anything.')
  }
  await withDatabase(call.config, async ({ sql }) => {
    const { total, items } = await findIn(sql, await companiesOf(sql, companyId), filter, limit)
    call.print({ total, items: items.map(present) }, tableOf(items) + moreNote(items.length, total))
  })
}

function filterIn(call: Call): Filter {
  const { to, id, sender } = call.options
  const status = choiceOption(call, 'status', statusWords)
  const channel = channelOption(call)
  const dispatchId = optionalId(call, 'dispatch')
  return {
    directions,
    destinations: to === undefined ? undefined : [readNumber(to, '--to')],
    messageIds: id === undefined ? undefined : [id],
    senderNames: sender === undefined ? undefined : [sender],
    statuses: status && [status],
    channelTypes: channel && [channel],
    dispatchIds: dispatchId === undefined ? undefined : [dispatchId],
    from: timeOption(call, 'from'),
    to: timeOption(call, 'until'),
  }
}

async function companiesOf(sql: Pool, companyId: number | undefined): Promise<number[]> {
  if (companyId === undefined) return (await listAllCompanies(sql)).map(company => company.companyId)
  await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
  return [companyId]
}

/** One company after the other: every index begins with the company. The newest come first. */
async function findIn(sql: Pool, companyIds: number[], filter: Filter, limit: number) {
  let total = 0
  let items: Located[] = []
  for (const companyId of companyIds) {
    const found: Found = await searchMessages(sql, companyId, filter, { page: 1, perPage: limit })
    total += found.total
    items = [...items, ...found.items.map(message => ({ ...message, companyId }))]
      .sort((a, b) => (a.uuid > b.uuid ? -1 : 1))
      .slice(0, limit)
  }
  return { total, items }
}

export async function showOne(call: Call) {
  const id = argumentOf(call)
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    const message = await messageIn(sql, await companiesOf(sql, companyId), id)
    call.print({ ...present(message), text: message.text }, detailsOf(message))
  })
}

async function messageIn(sql: Pool, companyIds: number[], id: string): Promise<Located> {
  for (const companyId of companyIds) {
    const message = await requireMessage(sql, companyId, id).catch(error => {
      if (error instanceof AppError && error.kind === 'not_found') return undefined
      throw error
    })
    if (message) return { ...message, companyId }
  }
  throw new UsageError(`There is no message "${id}": \`tidings message find --to NUMBER\` looks for messages.`)
}

const priceOf = ({ finalPrice, price }: FoundMessage) => finalPrice ?? price

const present = (m: Located) => ({
  messageUuid: m.uuid,
  externalMessageId: m.externalId,
  companyId: m.companyId,
  dispatchId: m.dispatchId,
  direction: m.direction,
  channelType: m.channelType,
  senderName: m.senderName,
  destination: m.destination,
  status: statusWordOf(m),
  errorCode: m.errorCode,
  parts: m.parts,
  price: priceOf(m) === null ? null : moneyToNumber(priceOf(m)!),
  currency: m.currency,
  createdAt: createdAt(m).toISOString(),
  sentAt: m.sentAt?.toISOString() ?? null,
  statusAt: statusTimeOf(m).toISOString(),
})

const detailsOf = (m: Located) =>
  details([
    ['Message', m.uuid],
    ["Client's own id", m.externalId],
    ['Company', m.companyId],
    ['Dispatch', m.dispatchId],
    ['Direction', m.direction],
    ['Channel', m.channelType],
    ['Traffic type', m.trafficType],
    ['Sender name', m.senderName],
    ['Number', m.destination],
    ['Status', `${statusWordOf(m)} since ${statusTimeOf(m).toISOString()}`],
    ['Error', m.errorCode === null ? null : `${m.errorCode} ${reasonOf(m.errorCode)}`],
    ['Created', createdAt(m).toISOString()],
    ['Sent', m.sentAt?.toISOString()],
    ['Read', m.readAt?.toISOString()],
    ['Parts', m.parts],
    ['Price', priceOf(m) === null ? null : shownAmount(priceOf(m)!, m.currency)],
    ['Callbacks', m.callbackUrl && withoutPassword(m.callbackUrl)],
    ['Text', m.text],
  ])

const tableOf = (messages: Located[]) =>
  table(
    ['MESSAGE', 'COMPANY', 'DISPATCH', 'CHANNEL', 'SENDER', 'NUMBER', 'STATUS', 'ERROR', 'CREATED'],
    messages.map(m => [
      m.uuid,
      m.companyId,
      m.dispatchId,
      m.channelType,
      m.senderName,
      m.destination,
      statusWordOf(m),
      m.errorCode,
      createdAt(m).toISOString().slice(0, 19),
    ]),
  )
