import { type TrafficType, trafficTypes } from '../../base/channel-types.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { formatMoney } from '../../base/money.ts'
import { compileTemplate } from '../../base/text-template.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import { databaseNow } from '../../db/clock.ts'
import { allowLongWork, endLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { blacklistedAmong } from '../blacklist/blacklist.ts'
import { requireActiveCompany } from '../companies/companies.ts'
import type { Company } from '../companies/company.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import { type Lane, updateLaneTails, upsertLanes } from '../lanes/dispatch-lanes.ts'
import type { NewMessage } from '../messages/message.ts'
import { acceptedMessages, type MessageHome, writeMessages } from '../messages/messages.ts'
import { replaceInText } from '../messages/texts.ts'
import type { Classified, Numbering } from '../numbering/numbering.ts'
import type { Partner } from '../partners/partner.ts'
import { openPriceBook } from '../pricing/pricing.ts'
import { sendersByIds, sendersCalled } from '../senders/senders.ts'
import { shortUrlOf } from '../short-links/short-link.ts'
import { saveLinks } from '../short-links/short-links.ts'
import { addTraffic, countNew } from '../statistics/statistics.ts'
import { TrafficTally } from '../statistics/traffic.ts'
import { currentTemplates, templateAgain } from '../templates/approved.ts'
import { budgetOf, Effort, forOneTemplate } from '../templates/effort.ts'
import { type AcceptanceInput, acceptRecipients, classifyAll } from './acceptance/acceptance.ts'
import type { AcceptanceRules, LaterStep } from './acceptance/acceptance-rules.ts'
import { copyPlans } from './acceptance/cascade-plans.ts'
import { templatesNamedBy } from './acceptance/named-templates.ts'
import { DEFAULT_TRAFFIC_TYPE, purposeOf } from './acceptance/purpose.ts'
import { lanesFor } from './acceptance/recipient-lanes.ts'
import { hasOwnContents } from './acceptance/rendering.ts'
import { compileContent } from './acceptance/step-content.ts'
import { emptyTally, type Tally } from './acceptance/tally.ts'
import type { CascadeStep, Dispatch, DispatchStatus, NewDispatch, Progress, Recipient } from './dispatch.ts'
import { type Routing, requireUsableName, requireUsableSenders, routeBy, routeFreely } from './routing.ts'
import { laneTimes, zoneChooser } from './schedule.ts'
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
    const company = await requireActiveCompany(sql, request.partner, request.companyId)
    const dispatch = await withPurpose(sql, pool, request)
    const gathered = await gather(sql, numbering, { ...request, dispatch, company })
    const [id] = await store.insertDispatchId(sql, company.companyId)
    const home = { companyId: company.companyId, dispatchId: id!.dispatchId, now: id!.now }
    await store.insertDispatch(sql, home.companyId, home.dispatchId, dispatch, request.dispatch)
    const tally = await takeIn(sql, home, { ...gathered, recipients: request.recipients, firstPosition: 0 })
    return { home, tally, currency: company.currency, firstPosition: 0 }
  })
}

async function withPurpose(
  sql: Sql,
  pool: Pool,
  request: { companyId: number; dispatch: NewDispatch; recipients: readonly Recipient[] },
) {
  const { companyId, dispatch, recipients } = request
  const { templates } = await currentTemplates(sql, pool, companyId, await databaseNow(sql))
  return { ...dispatch, ...(await purposeOf(templates, dispatch, recipients[0], budgetOf(pool, companyId))) }
}

/** Everything a created dispatch would say, and nothing stored. */
export async function tryDispatch(
  sql: Pool,
  numbering: Numbering,
  request: Request & { companyId: number; dispatch: NewDispatch },
): Promise<Acceptance> {
  const judge = await createTrial(sql, numbering, { ...request, firstRecipient: request.recipients[0] })
  return judge(request.recipients)
}

/** Judges recipients, and notes what would become of each when a list is given for the answers. */
export type Trial = (recipients: Recipient[], answers?: Answer[]) => Promise<Acceptance>

/**
 * The same for recipients that come in batches: each batch is judged as if it were added to the dispatch that the first
 * recipient began.
 */
export async function createTrial(
  sql: Pool,
  numbering: Numbering,
  request: { partner: Partner; companyId: number; dispatch: NewDispatch; firstRecipient: Recipient | undefined },
): Promise<Trial> {
  const { firstRecipient } = request
  const company = await requireActiveCompany(sql, request.partner, request.companyId)
  const dispatch = await withPurpose(sql, sql, { ...request, recipients: firstRecipient ? [firstRecipient] : [] })
  return async (recipients, answers = []) => {
    const tally = emptyTally()
    const judged = judgeUnstored(sql, numbering, { dispatch, company, recipients }, tally)
    for await (const _ of answered(judged, answers));
    return acceptanceOf({ home: { dispatchId: 0 }, tally, currency: company.currency })
  }
}

/** The messages that the recipients would become, a slice at a time, and nothing stored. Adds to the tally. */
export async function* judgeUnstored(
  sql: Sql,
  numbering: Numbering,
  request: Parameters<typeof gather>[2],
  tally: Tally,
): AsyncGenerator<NewMessage[]> {
  const { recipients } = request
  const { rules, numbers } = await gather(sql, numbering, request)
  const lanes = lanesFor(rules, numbers).map((lane, laneId) => ({ ...lane, laneId, tail: 0 }))
  const input = { rules, recipients, numbers, lanes, defaultLanes: lanes, firstPosition: 0, uuidOf: () => NIL_UUID }
  yield* acceptRecipients(input, tally)
}

/** Adds messages to a dispatch that has not been started. */
export async function addMessages(
  pool: Pool,
  numbering: Numbering,
  request: Request & { dispatchId: number; linkBase?: string },
): Promise<Acceptance> {
  const { recipients, linkBase } = request
  const { companyId } = await requireDispatch(pool, request.partner, request.dispatchId)
  return acceptOnce(pool, request, async sql => {
    const [dispatch] = await store.lockDispatch(sql, companyId, request.dispatchId)
    if (dispatch!.status !== 'CREATED')
      throw invalid(`The dispatch is ${dispatch!.status}: messages are added only while it is CREATED`)

    const company = await requireActiveCompany(sql, request.partner, companyId)
    const shortening = linkBase ? { linkBase } : {}
    const tally = await addTo(sql, numbering, { dispatch: dispatch!, company, recipients, ...shortening })
    return { home: dispatch!, tally, currency: dispatch!.currency, firstPosition: dispatch!.messageCount }
  })
}

type Addition = {
  dispatch: Dispatch & { now: Date }
  company: Company
  recipients: Recipient[]
  /** Where short links lead through. */
  linkBase?: string
  answers?: Answer[]
}

/** Adds recipients to a dispatch that is locked. */
export async function addTo(sql: Transaction, numbering: Numbering, addition: Addition): Promise<Tally> {
  const { dispatch, recipients } = addition
  const gathered = await gather(sql, numbering, addition)
  return takeIn(
    sql,
    { ...dispatch, isCascade: dispatch.cascade !== null },
    {
      ...gathered,
      recipients,
      firstPosition: dispatch.messageCount,
      ...(dispatch.cascade ? { cascading: dispatch } : {}),
      ...(addition.answers ? { answers: addition.answers } : {}),
    },
  )
}

type Named = Pick<Dispatch, 'channelType' | 'senderIds' | 'text' | 'trafficType' | 'templateId'> &
  Partial<Pick<Dispatch, 'senderName' | 'options' | 'cascade'>>
type Gathered = { rules: AcceptanceRules; numbers: Classified[]; dispatch: Named; linkBase: string | undefined }

/** Gathers what decides the recipients' fate; refuses a request that could not be carried out. */
async function gather(
  sql: Sql,
  numbering: Numbering,
  request: { company: Company; dispatch: Named; recipients: Recipient[]; linkBase?: string },
): Promise<Gathered> {
  const { company, dispatch, recipients } = request
  const { companyId, partnerId } = company
  const routing = await routingOf(sql, companyId, dispatch)
  const numbers = await classifyAll(numbering, recipients)
  const linkBase = dispatch.options?.shortUrl ? request.linkBase : undefined
  const rules: AcceptanceRules = {
    channelType: dispatch.channelType,
    trafficType: dispatch.trafficType,
    template: compileTemplate(dispatch.text),
    approvedTemplate: await templateHeldTo(sql, companyId, dispatch),
    effort: new Effort(forOneTemplate),
    content: dispatch.cascade?.[0]?.content ?? null,
    fillContent: compileContent(dispatch.cascade?.[0]?.content),
    laterSteps: await laterStepsOf(sql, companyId, (dispatch.cascade ?? []).slice(1)),
    routing,
    prices: await openPriceBook(sql, partnerId),
    blacklisted: await blacklistedAmong(sql, companyId, numbers.flatMap(digitsOf)),
    zoneOf: zoneChooser(dispatch.options ?? null),
    linkBase,
  }
  return { rules, numbers, dispatch, linkBase }
}

async function laterStepsOf(sql: Sql, companyId: number, steps: CascadeStep[]): Promise<LaterStep[]> {
  const namedOf = await templatesNamedBy(sql, companyId, steps)
  return steps.map(({ channelType, text, content }) => ({
    channelType,
    template: compileTemplate(text),
    content,
    fillContent: compileContent(content),
    named: namedOf(content),
  }))
}

/**
 * A text that does not fit the template which its dispatch goes by goes out as every text without one does. No other
 * template is tried: a company may have hundreds of them, and a request as many thousands of recipients.
 */
async function templateHeldTo(
  sql: Sql,
  companyId: number,
  { templateId }: Named,
): Promise<AcceptanceRules['approvedTemplate']> {
  return templateId === null ? undefined : templateAgain(sql, companyId, templateId)
}

/** Partners name senders, clients a name: what is registered under it with an operator serves that operator's numbers. */
async function routingOf(sql: Sql, companyId: number, dispatch: Named): Promise<Routing> {
  const { channelType, senderName, senderIds } = dispatch
  if (!senderName) {
    const found = await sendersByIds(sql, companyId, senderIds)
    return routeBy(channelType, requireUsableSenders(found, senderIds, channelType))
  }
  await refuseForeignNames(sql, companyId, [{ channelType, senderName }])
  const ofName = await sendersCalled(sql, companyId, [senderName])
  const senders = requireUsableName(ofName, { channelType, senderName })
  return senders.length > 0 ? routeBy(channelType, senders) : routeFreely()
}

const digitsOf = (number: Classified) => (number.kind === 'refused' ? [] : number.digits)

/** What became of a recipient, in the order submitted. */
export type Answer = { destination: string; uuid: string; errorCode: number | null }

type Submitted = Omit<AcceptanceInput, 'uuidOf' | 'lanes' | 'defaultLanes'> &
  Gathered & { cascading?: Dispatch; answers?: Answer[] }

/** Judges the recipients and writes their messages, counters, places and links. */
async function takeIn(
  sql: Transaction,
  home: { companyId: number; dispatchId: number; now: Date; isCascade?: boolean },
  submitted: Submitted,
): Promise<Tally> {
  const tally = emptyTally()
  const uuids = uuid7Batch(home.now, submitted.recipients.length)
  const { approvedTemplate, trafficType } = submitted.rules
  const lanes = await makeLanes(sql, home, submitted, trafficType)
  const mayBeUsual = approvedTemplate && priorityOf(trafficType) !== priorityOf(DEFAULT_TRAFFIC_TYPE)
  const defaultLanes = mayBeUsual ? await makeLanes(sql, home, submitted, DEFAULT_TRAFFIC_TYPE) : lanes
  const judged = acceptRecipients({ ...submitted, lanes, defaultLanes, uuidOf: index => uuids[index]! }, tally)
  const traffic = new TrafficTally()
  const counted = countNew(judged, traffic, submitted.rules, home.now)
  const written = submitted.answers ? answered(counted, submitted.answers) : counted
  const hasTemplate = approvedTemplate !== undefined
  const hasContents = hasTemplate || hasOwnContents(submitted.rules)
  await writeMessages(sql, { ...home, hasTemplate, hasContents }, written)
  await updateLaneTails(sql, home.companyId, mayBeUsual ? [...lanes, ...defaultLanes] : lanes)
  await keepLinks(sql, home, tally, submitted.linkBase)
  if (submitted.cascading) await copyPlans(sql, submitted.cascading, acceptedOf(submitted.recipients, uuids, tally))
  await store.addToDispatch(sql, home, {
    messages: tally.total,
    estimate: tally.estimate,
    tariffIds: [...tally.tariffIds],
    firstUuid: uuids[0]!,
    lastUuid: uuids.at(-1)!,
  })
  await countLast(sql, home.companyId, traffic)
  return tally
}

/** The last thing before the commit: engines that record results of the company wait for these rows. */
const countLast = (sql: Transaction, companyId: number, traffic: TrafficTally) =>
  Promise.all([endLongWork(sql), addTraffic(sql, companyId, traffic)])

function acceptedOf(recipients: readonly Recipient[], uuids: string[], { accepted }: Tally) {
  const destinations = new Map(accepted.map(({ uuid, destination }) => [uuid, destination]))
  return recipients.flatMap((recipient, i) => {
    const destination = destinations.get(uuids[i]!)
    return destination === undefined ? [] : [{ uuid: uuids[i]!, destination, recipient }]
  })
}

/** A sender changed since the dispatch was made may serve other numbers now: they need lanes of their own. */
async function makeLanes(
  sql: Sql,
  home: { companyId: number; dispatchId: number },
  { rules, numbers, dispatch }: Submitted,
  trafficType: TrafficType,
): Promise<Lane[]> {
  const { channelType } = rules
  const lanes = lanesFor(rules, numbers).map(lane => ({ ...lane, ...laneTimes(dispatch.options ?? null, lane.zone) }))
  if (lanes.length === 0) return []
  const senderName = lanes[0]!.senderId === null ? (dispatch.senderName ?? null) : null
  return upsertLanes(sql, home, { channelType, priority: priorityOf(trafficType), senderName }, lanes)
}

async function* answered(batches: AsyncIterable<NewMessage[]>, answers: Answer[]) {
  for await (const batch of batches) {
    for (const { destination, uuid, errorCode } of batch) answers.push({ destination, uuid, errorCode })
    yield batch
  }
}

/** A link whose code was taken got another one: its message is told. */
async function keepLinks(
  sql: Transaction,
  { companyId, now }: { companyId: number; now: Date },
  { links }: Tally,
  base: string | undefined,
) {
  if (!base || links.length === 0) return
  const saved = await saveLinks(sql, companyId, links, now)
  for (const [i, { code, messageUuid }] of saved.entries()) {
    const drawn = links[i]!.code
    if (code === drawn) continue
    await replaceInText(sql, companyId, messageUuid, shortUrlOf(base, drawn), shortUrlOf(base, code))
  }
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
    await allowLongWork(sql)
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

/** The first place is for single codes: a dispatch, whatever its first text matched, does not go before them. */
const MOST_URGENT = trafficTypes.indexOf('TRANSACT')

/** Lower goes first: transactions before service, before advertising. */
const priorityOf = (trafficType: TrafficType) => Math.max(MOST_URGENT, trafficTypes.indexOf(trafficType))

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

/** For staff: a dispatch of whichever company. */
export async function requireAnyDispatch(sql: Sql, dispatchId: number): Promise<Dispatch & Progress & InOperation> {
  const [dispatch] = await store.selectAnyDispatchWithSums(sql, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return { ...withProgress(dispatch), ...inOperation(dispatch) }
}

/** Messages that no operator has yet, and those whose receipt is still to come. */
export type InOperation = { waiting: number; awaitingReceipt: number }

const inOperation = (d: store.DispatchWithSums): InOperation => ({
  waiting: d.createdMessages,
  awaitingReceipt: d.sentMessages,
})

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
