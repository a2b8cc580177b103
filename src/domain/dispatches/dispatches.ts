import { type TrafficType, trafficTypes } from '../../base/channel-types.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { formatMoney } from '../../base/money.ts'
import { compileTemplate } from '../../base/text-template.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { requireActiveCompany } from '../companies/companies.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import { acceptedMessages, type MessageHome, writeMessages } from '../messages/messages.ts'
import type { Classified, Numbering } from '../numbering/numbering.ts'
import type { Partner } from '../partners/partner.ts'
import { openPriceBook } from '../pricing/pricing.ts'
import { sendersByIds } from '../senders/senders.ts'
import type { Dispatch, DispatchStatus, NewDispatch, Progress, Recipient } from './dispatch.ts'
import { classifyAll, type Desk, emptyTally, type Intake, judgeRecipients, type Tally } from './intake.ts'
import { requireUsableSenders, routeBy } from './routing.ts'
import * as store from './store.ts'

/** What is said of a request that added messages. */
export type Acceptance = {
  dispatchId: number
  status: DispatchStatus
  currency: string
  estimate: string
  parts: number
  total: number
  success: number
  accepted: Tally['accepted']
}

type Request = { partner: Partner; recipients: Recipient[]; once: Once }

/** Creates a dispatch with its first messages: all of it in one transaction, or none. */
export async function createDispatch(
  pool: Pool,
  numbering: Numbering,
  request: Request & { companyId: number; dispatch: NewDispatch },
): Promise<Acceptance> {
  return acceptOnce(pool, request, async sql => {
    const { intake, numbers, company } = await prepare(sql, numbering, request)
    const [id] = await store.insertDispatchId(sql, company.companyId)
    const home = { companyId: company.companyId, dispatchId: id!.dispatchId, now: id!.now }
    await store.insertDispatch(sql, home.companyId, home.dispatchId, intake.trafficType, request.dispatch)
    const priority = priorityOf(intake.trafficType)
    const lanes = await store.insertLanes(sql, home, intake.channelType, priority, intake.routing.lanes)

    const tally = await takeIn(sql, home, { intake, recipients: request.recipients, numbers, lanes, firstPosition: 0 })
    return { home, tally, currency: company.currency, firstPosition: 0 }
  })
}

/** Everything a created dispatch would say, and nothing stored. */
export async function tryDispatch(
  sql: Sql,
  numbering: Numbering,
  request: Request & { companyId: number; dispatch: NewDispatch },
): Promise<Acceptance> {
  const { intake, numbers, company } = await prepare(sql, numbering, request)
  const lanes = intake.routing.lanes.map((lane, laneId) => ({ ...lane, laneId, tail: 0 }))
  const tally = emptyTally()
  const desk = { intake, recipients: request.recipients, numbers, lanes, firstPosition: 0, uuidOf: () => NIL_UUID }
  for await (const _ of judgeRecipients(desk, tally));
  return acceptanceOf({ home: { dispatchId: 0 }, tally, currency: company.currency })
}

/** Adds messages to a dispatch that has not been started. */
export async function addMessages(
  pool: Pool,
  numbering: Numbering,
  request: Request & { dispatchId: number },
): Promise<Acceptance> {
  const { companyId } = await requireDispatch(pool, request.partner, request.dispatchId)
  return acceptOnce(pool, request, async sql => {
    const [dispatch] = await store.lockDispatch(sql, companyId, request.dispatchId)
    if (dispatch!.status !== 'CREATED')
      throw invalid(`The dispatch is ${dispatch!.status}: messages are added only while it is CREATED`)

    const { intake, numbers } = await prepare(sql, numbering, { ...request, companyId, dispatch: dispatch! })
    const home = { companyId, dispatchId: request.dispatchId, now: dispatch!.now }
    // A sender changed since the dispatch was made may serve other numbers now: they need lanes of their own.
    await store.insertLanes(sql, home, intake.channelType, priorityOf(intake.trafficType), intake.routing.lanes)
    const lanes = await store.selectLanes(sql, home)
    const firstPosition = dispatch!.messageCount
    const tally = await takeIn(sql, home, { intake, recipients: request.recipients, numbers, lanes, firstPosition })
    return { home, tally, currency: dispatch!.currency, firstPosition }
  })
}

/** Gathers what decides the recipients' fate; refuses a request that could not be carried out. */
async function prepare(
  sql: Sql,
  numbering: Numbering,
  request: Request & { companyId: number; dispatch: Pick<NewDispatch, 'channelType' | 'senderIds' | 'text'> },
) {
  const { partner, companyId, dispatch, recipients } = request
  const company = await requireActiveCompany(sql, partner, companyId)
  const found = await sendersByIds(sql, companyId, dispatch.senderIds)
  const senders = requireUsableSenders(found, dispatch.senderIds, dispatch.channelType)
  const numbers = await classifyAll(numbering, recipients)
  const intake: Intake = {
    channelType: dispatch.channelType,
    trafficType: 'PROMO',
    template: compileTemplate(dispatch.text),
    routing: routeBy(dispatch.channelType, senders),
    prices: await openPriceBook(sql, partner.partnerId),
    blacklisted: await blacklistedAmong(sql, companyId, numbers.flatMap(digitsOf)),
  }
  return { company, intake, numbers }
}

const digitsOf = (number: Classified) => (number.kind === 'refused' ? [] : number.digits)

/** Judges the recipients and writes their messages, counters and places. */
async function takeIn(
  sql: Transaction,
  home: { companyId: number; dispatchId: number; now: Date },
  desk: Omit<Desk, 'uuidOf'>,
): Promise<Tally> {
  const tally = emptyTally()
  const uuids = uuid7Batch(home.now, desk.recipients.length)
  await writeMessages(sql, home, judgeRecipients({ ...desk, uuidOf: index => uuids[index]! }, tally))
  await store.updateLaneTails(sql, home.companyId, desk.lanes)
  await store.addToDispatch(sql, home, {
    messages: tally.total,
    estimate: tally.estimate,
    tariffIds: [...tally.tariffIds],
    firstUuid: uuids[0]!,
    lastUuid: uuids.at(-1)!,
  })
  return tally
}

type Outcome = {
  home: { companyId: number; dispatchId: number }
  tally: Tally
  currency: string
  firstPosition: number
}

/**
 * Runs the request once. What is kept for a repeated key is short; the list of accepted messages is read again from
 * the messages themselves.
 */
async function acceptOnce(
  pool: Pool,
  request: Request,
  work: (sql: Transaction) => Promise<Outcome>,
): Promise<Acceptance> {
  let accepted: Tally['accepted'] | undefined
  const kept = await once(pool, request.once, async sql => {
    const outcome = await work(sql)
    accepted = outcome.tally.accepted
    const { accepted: _, ...short } = acceptanceOf(outcome)
    return { ...short, firstPosition: outcome.firstPosition }
  })
  const { firstPosition, ...acceptance } = kept
  return {
    ...acceptance,
    accepted: accepted ?? (await acceptedAgain(pool, request.partner, acceptance, firstPosition)),
  }
}

async function acceptedAgain(
  sql: Sql,
  partner: Partner,
  { dispatchId, total }: Omit<Acceptance, 'accepted'>,
  firstPosition: number,
) {
  const home: MessageHome = await requireDispatch(sql, partner, dispatchId)
  return acceptedMessages(sql, home, firstPosition, total)
}

function acceptanceOf({
  home,
  tally,
  currency,
}: {
  home: { dispatchId: number }
  tally: Tally
  currency: string
}): Acceptance {
  return {
    dispatchId: home.dispatchId,
    status: 'CREATED',
    currency,
    estimate: formatMoney(tally.estimate),
    parts: tally.parts,
    total: tally.total,
    success: tally.success,
    accepted: tally.accepted,
  }
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Lower goes first: codes before transactions, before service, before advertising. */
const priorityOf = (trafficType: TrafficType) => trafficTypes.indexOf(trafficType)

export async function requireDispatch(sql: Sql, partner: Partner, dispatchId: number): Promise<Dispatch> {
  const [dispatch] = await store.selectDispatch(sql, partner.partnerId, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return dispatch
}

export async function requireDispatchProgress(sql: Sql, partner: Partner, dispatchId: number) {
  const [dispatch] = await store.selectDispatchWithSums(sql, partner.partnerId, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return withProgress(dispatch)
}

export async function listDispatches(
  sql: Sql,
  companyId: number,
  status: DispatchStatus | undefined,
  page: number,
  perPage: number,
) {
  const [[count], items] = await Promise.all([
    store.countDispatches(sql, companyId, status),
    store.selectDispatches(sql, companyId, status, (page - 1) * perPage, perPage),
  ])
  return { total: count!.total, items: items.map(withProgress) }
}

function withProgress(d: store.DispatchWithSums): Dispatch & Progress {
  return {
    ...d,
    messages: {
      total: d.createdMessages + d.sentMessages + d.deliveredMessages + d.failedMessages,
      delivered: d.deliveredMessages,
      failed: d.failedMessages,
      pending: d.createdMessages + d.sentMessages,
    },
    parts: {
      total: d.createdParts + d.sentParts + d.deliveredParts + d.failedParts,
      delivered: d.deliveredParts,
      failed: d.failedParts,
      pending: d.createdParts + d.sentParts,
    },
  }
}
