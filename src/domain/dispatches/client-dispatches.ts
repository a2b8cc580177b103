import { invalid, invalidField, notFound } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { Company } from '../companies/company.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { requireUsableName } from '../routing/routing.ts'
import { sendersByNames } from '../senders/senders.ts'
import { currentTemplates } from '../templates/approved.ts'
import { budgetOf } from '../templates/effort.ts'
import type { TrafficCenter } from '../traffic-centers/traffic-center.ts'
import { listCenters } from '../traffic-centers/traffic-centers.ts'
import { withNamedTemplates } from './acceptance/named-templates.ts'
import { refusalOfDispatchTimes } from './acceptance/schedule.ts'
import type { ClientDispatch, ClientProgress, Dispatch, DispatchKey, DispatchStatus, Recipient } from './dispatch.ts'
import { inappropriateStatus } from './lifecycle.ts'
import * as store from './store.ts'
import { addRecipientsTo, type RecipientResult } from './writing.ts'

/**
 * Dispatches of the messaging API. A request of a company creates them with a sender name and without recipients. They are
 * in the same table as dispatches of the partner API, and each API can continue dispatches of the other.
 */

/** Writes more rows in the transaction that changes the dispatch. */
type Alongside = (sql: Transaction, dispatchId: number) => Promise<void>

/** Creates a dispatch without recipients. */
export async function createClientDispatch(
  pool: Pool,
  companyId: number,
  request: { dispatch: ClientDispatch; once: Once; now: Date; alongside?: Alongside },
): Promise<{ dispatchId: number }> {
  return once(pool, request.once, async sql => {
    await requireActive(sql, companyId)
    const { templates } = await currentTemplates(sql, pool, companyId, request.now)
    const budget = budgetOf(pool, companyId)
    const { dispatch, purpose } = await withNamedTemplates(sql, companyId, templates, request.dispatch, budget)
    const mistake = refusalOfDispatchTimes(dispatch.options, request.now)
    if (mistake) throw invalidField(mistake.field, mistake.reason)
    const senderIds = await registrationsOf(sql, companyId, dispatch)
    const { dispatchId } = await store.insertDispatchId(sql, companyId)
    await store.insertClientDispatch(sql, { companyId, dispatchId }, purpose, { ...dispatch, senderIds })
    await request.alongside?.(sql, dispatchId)
    return { dispatchId }
  })
}

async function requireActive(sql: Sql, companyId: number): Promise<Company> {
  const company = await requireAnyCompany(sql, companyId)
  if (company.status !== 'ACTIVE') throw invalid('The company is disabled')
  return company
}

/** The sender names of all steps must be usable. The dispatch stores only the registrations of the first name. */
async function registrationsOf(sql: Sql, companyId: number, dispatch: ClientDispatch): Promise<number[]> {
  const steps = dispatch.cascade ?? []
  const names = [dispatch, ...steps].map(({ senderName }) => senderName)
  await refuseForeignNames(sql, companyId, [
    ...(dispatch.cascade ? [] : [dispatch]),
    ...steps.map((step, i) => ({ ...step, step: i })),
  ])
  const found = await sendersByNames(sql, companyId, [...new Set(names)])
  steps.forEach((step, i) => void requireUsableName(found, step, i))
  return requireUsableName(found, dispatch).map(({ senderId }) => senderId)
}

/**
 * Adds recipients to a dispatch that is not started, and returns their results in the order of the request. `from` is the
 * expected number of recipients in the dispatch. An upload may continue after days, when its idempotency keys are deleted;
 * with `from` it adds no recipient twice.
 */
export async function addRecipients(
  pool: Pool,
  numbering: Numbering,
  key: DispatchKey,
  request: { recipients: Recipient[]; linkBase: string; once: Once; from?: number; alongside?: Alongside },
): Promise<RecipientResult[]> {
  const { recipients, linkBase } = request
  const results: RecipientResult[] = []
  const { from } = await once(pool, request.once, async sql => {
    await allowLongWork(sql)
    const dispatch = await store.lockDispatch(sql, key.companyId, key.dispatchId)
    if (dispatch.status !== 'CREATED') throw inappropriateStatus()
    if (request.from !== undefined && request.from !== dispatch.messageCount) {
      throw invalidField('from', `the dispatch has ${dispatch.messageCount} recipients`)
    }
    const company = await requireActive(sql, key.companyId)
    await addRecipientsTo(sql, numbering, { dispatch, company, recipients, linkBase, results })
    await request.alongside?.(sql, key.dispatchId)
    return { from: dispatch.messageCount }
  })
  // A repeated request reads the results of the first request from the messages.
  return results.length > 0 ? results : resultsBefore(pool, key, from, recipients.length)
}

const resultsBefore = async (sql: Sql, { companyId, dispatchId }: DispatchKey, from: number, count: number) =>
  store.selectResults(sql, await requireDispatchOf(sql, companyId, dispatchId), from, count)

/** A dispatch of this company. A dispatch of another company is reported as not found. */
export async function requireDispatchOf(sql: Sql, companyId: number, dispatchId: number): Promise<Dispatch> {
  const [dispatch] = await store.selectDispatchOf(sql, companyId, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return dispatch
}

export type ShownDispatch = Dispatch & ClientProgress & { centerName: string | null }

export async function requireShownDispatch(sql: Sql, companyId: number, dispatchId: number): Promise<ShownDispatch> {
  const [[dispatch], centers] = await Promise.all([
    store.selectDispatchOfWithSums(sql, companyId, dispatchId),
    listCenters(sql, companyId),
  ])
  if (!dispatch) throw notFound('Dispatch')
  return showing(centers)(dispatch)
}

/** Returns one page. The newest dispatch is first. */
export async function listShownDispatches(
  sql: Sql,
  companyId: number,
  status: DispatchStatus | undefined,
  { page, perPage }: { page: number; perPage: number },
) {
  const [total, items, centers] = await Promise.all([
    store.countDispatches(sql, companyId, status),
    store.selectDispatches(sql, companyId, status, (page - 1) * perPage, perPage),
    listCenters(sql, companyId),
  ])
  return { total, items: items.map(showing(centers)) }
}

function showing(centers: TrafficCenter[]) {
  const nameOf = new Map(centers.map(({ centerId, name }) => [centerId, name]))
  return (d: store.DispatchWithSums): ShownDispatch => ({
    ...d,
    centerName: d.centerId === null ? null : (nameOf.get(d.centerId) ?? null),
    messages: clientCountsOf(
      d.createdMessages,
      d.sentMessages,
      d.deliveredMessages,
      d.failedMessages,
      d.unsentMessages,
    ),
    parts: clientCountsOf(d.createdParts, d.sentParts, d.deliveredParts, d.failedParts, d.unsentParts),
  })
}

const clientCountsOf = (created: number, sent: number, delivered: number, failed: number, unsent: number) => ({
  total: created + sent + delivered + failed,
  delivered,
  undelivered: failed - unsent,
  unsent,
  sent,
  sending: created,
})
