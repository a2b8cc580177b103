import { type TrafficType, trafficTypes } from '../../base/channel-types.ts'
import { invalid } from '../../base/errors.ts'
import { uuid7Batch } from '../../base/uuid7.ts'
import { endLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireActiveCompany } from '../companies/companies.ts'
import type { Company } from '../companies/company.ts'
import { type Lane, updateLaneTails, upsertLanes } from '../lanes/dispatch-lanes.ts'
import type { NewMessage } from '../messages/message.ts'
import { writeMessages } from '../messages/messages.ts'
import { replaceInText } from '../messages/texts.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { shortUrlOf } from '../short-links/short-link.ts'
import { saveLinks } from '../short-links/short-links.ts'
import { addTraffic, countNew } from '../statistics/statistics.ts'
import { TrafficTally } from '../statistics/traffic.ts'
import { type AcceptanceInput, acceptRecipients } from './acceptance/acceptance.ts'
import { copyPlans } from './acceptance/cascade-plans.ts'
import { type PreparedAcceptance, prepareAcceptance } from './acceptance/preparing.ts'
import { DEFAULT_TRAFFIC_TYPE } from './acceptance/purpose.ts'
import { lanesFor } from './acceptance/recipient-lanes.ts'
import { hasOwnContents } from './acceptance/rendering.ts'
import { laneTimes } from './acceptance/schedule.ts'
import { emptyTally, type Tally } from './acceptance/tally.ts'
import { type AcceptanceRequest, type AcceptanceSummary, acceptOnce } from './acceptance-summary.ts'
import type { Dispatch, DispatchKey, Recipient } from './dispatch.ts'
import { requireDispatch } from './reading.ts'
import * as store from './store.ts'

/** Adds messages to a dispatch of the partner that is not started. */
export async function addMessages(
  pool: Pool,
  numbering: Numbering,
  request: AcceptanceRequest & { dispatchId: number; linkBase?: string },
): Promise<AcceptanceSummary> {
  const { recipients, linkBase } = request
  const { companyId } = await requireDispatch(pool, request.partner, request.dispatchId)
  return acceptOnce(pool, request, async sql => {
    const dispatch = await store.lockDispatch(sql, companyId, request.dispatchId)
    if (dispatch.status !== 'CREATED')
      throw invalid(`The dispatch is ${dispatch.status}: messages are added only while it is CREATED`)

    const company = await requireActiveCompany(sql, request.partner, companyId)
    const shortening = linkBase ? { linkBase } : {}
    const tally = await addRecipientsTo(sql, numbering, { dispatch, company, recipients, ...shortening })
    const { dispatchId, currency, messageCount } = dispatch
    return { dispatchId, tally, currency, firstPosition: messageCount }
  })
}

type Addition = {
  dispatch: Dispatch & { now: Date }
  company: Company
  recipients: Recipient[]
  /** The address before the code of a short link. */
  linkBase?: string
  /** Gets the result of each recipient. */
  results?: RecipientResult[]
  /** Gets the counts of the messages. The caller writes them with `countTraffic` directly before its commit. */
  traffic?: TrafficTally
}

/** Adds recipients to a dispatch that the transaction has locked. */
export async function addRecipientsTo(sql: Transaction, numbering: Numbering, addition: Addition): Promise<Tally> {
  const { dispatch, recipients, results, traffic } = addition
  const prepared = await prepareAcceptance(sql, numbering, addition)
  const { cascade, messageCount } = dispatch
  return writeRecipients(
    sql,
    { ...dispatch, isCascade: cascade !== null },
    {
      ...prepared,
      recipients,
      firstPosition: messageCount,
      ...(cascade ? { cascading: { ...dispatch, cascade } } : {}),
      ...(results ? { results } : {}),
      ...(traffic ? { traffic } : {}),
    },
  )
}

/** The result of one recipient. Results are in the order of the request. */
export type RecipientResult = { destination: string; uuid: string; errorCode: number | null }

type PreparedRecipients = Omit<AcceptanceInput, 'uuidOf' | 'lanes' | 'defaultLanes'> &
  PreparedAcceptance & {
    cascading?: Parameters<typeof copyPlans>[1]
    results?: RecipientResult[]
    traffic?: TrafficTally
  }

type LockedDispatch = DispatchKey & { now: Date; isCascade?: boolean }

/** Accepts the recipients and writes their messages, counters, lanes and links. */
export async function writeRecipients(
  sql: Transaction,
  dispatch: LockedDispatch,
  prepared: PreparedRecipients,
): Promise<Tally> {
  const { rules, recipients } = prepared
  const tally = emptyTally()
  const uuids = uuid7Batch(dispatch.now, recipients.length)
  const { lanes, defaultLanes } = await prepareLanes(sql, dispatch, prepared)
  const accepted = acceptRecipients({ ...prepared, lanes, defaultLanes, uuidOf: index => keyAt(uuids, index) }, tally)
  const traffic = prepared.traffic ?? new TrafficTally()
  const counted = countNew(accepted, traffic, rules, dispatch.now)
  const written = prepared.results ? collectResults(counted, prepared.results) : counted
  const hasTemplate = rules.approvedTemplate !== undefined
  await writeMessages(sql, { ...dispatch, hasTemplate, hasContents: hasTemplate || hasOwnContents(rules) }, written)
  await updateLaneTails(sql, dispatch.companyId, lanes === defaultLanes ? lanes : [...lanes, ...defaultLanes])
  await writeLinks(sql, dispatch, tally, prepared.linkBase)
  if (prepared.cascading) await copyPlans(sql, prepared.cascading, acceptedAmong(recipients, uuids, tally))
  await store.addToDispatch(sql, dispatch, {
    messages: tally.total,
    estimate: tally.estimate,
    tariffIds: [...tally.tariffIds],
    firstUuid: keyAt(uuids, 0),
    lastUuid: keyAt(uuids, uuids.length - 1),
  })
  if (!prepared.traffic) await countTraffic(sql, dispatch.companyId, traffic)
  return tally
}

function keyAt(uuids: readonly string[], index: number): string {
  const uuid = uuids[index]
  if (uuid === undefined) throw new RangeError(`The request has no recipient ${index}`)
  return uuid
}

/** Texts that do not match the template have the default traffic type. They need other lanes if its priority differs. */
async function prepareLanes(sql: Sql, dispatch: DispatchKey, prepared: PreparedRecipients) {
  const { approvedTemplate, trafficType } = prepared.rules
  const lanes = await makeLanes(sql, dispatch, prepared, trafficType)
  const hasOtherPriority = priorityOf(trafficType) !== priorityOf(DEFAULT_TRAFFIC_TYPE)
  if (!approvedTemplate || !hasOtherPriority) return { lanes, defaultLanes: lanes }
  return { lanes, defaultLanes: await makeLanes(sql, dispatch, prepared, DEFAULT_TRAFFIC_TYPE) }
}

/** Creates the lanes that are missing. A sender that changed since the last request may need lanes for other numbers. */
async function makeLanes(
  sql: Sql,
  key: DispatchKey,
  { rules, numbers, dispatch }: PreparedRecipients,
  trafficType: TrafficType,
): Promise<Lane[]> {
  const { channelType } = rules
  const lanes = lanesFor(rules, numbers).map(lane => ({ ...lane, ...laneTimes(dispatch.options ?? null, lane.zone) }))
  const [first] = lanes
  if (!first) return []
  const senderName = first.senderId === null ? (dispatch.senderName ?? null) : null
  return upsertLanes(sql, key, { channelType, priority: priorityOf(trafficType), senderName }, lanes)
}

/** The first priority belongs to single messages with codes. A dispatch never gets it, also if its text matches a code. */
const FIRST_PRIORITY = trafficTypes.indexOf('TRANSACT')

/** A lower number is sent earlier: transactions, then service, then advertising. */
const priorityOf = (trafficType: TrafficType) => Math.max(FIRST_PRIORITY, trafficTypes.indexOf(trafficType))

export async function* collectResults(slices: AsyncIterable<NewMessage[]>, results: RecipientResult[]) {
  for await (const slice of slices) {
    for (const { destination, uuid, errorCode } of slice) results.push({ destination, uuid, errorCode })
    yield slice
  }
}

/** Stores the links. A link whose code is already in use gets another code, and the text of its message is corrected. */
async function writeLinks(
  sql: Transaction,
  { companyId, now }: { companyId: number; now: Date },
  { links }: Tally,
  base: string | undefined,
) {
  if (!base || links.length === 0) return
  const saved = await saveLinks(sql, companyId, links, now)
  for (const [i, { code, messageUuid }] of saved.entries()) {
    const drawn = links[i]?.code
    if (drawn === undefined || code === drawn) continue
    await replaceInText(sql, companyId, messageUuid, shortUrlOf(base, drawn), shortUrlOf(base, code))
  }
}

function acceptedAmong(recipients: readonly Recipient[], uuids: string[], { accepted }: Tally) {
  const destinations = new Map(accepted.map(({ uuid, destination }) => [uuid, destination]))
  return recipients.flatMap((recipient, i) => {
    const uuid = keyAt(uuids, i)
    const destination = destinations.get(uuid)
    return destination === undefined ? [] : [{ uuid, destination, recipient }]
  })
}

/** Runs directly before the commit, because engines that record results of the company wait for these rows. */
export const countTraffic = (sql: Transaction, companyId: number, traffic: TrafficTally) =>
  Promise.all([endLongWork(sql), addTraffic(sql, companyId, traffic)])
