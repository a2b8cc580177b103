import { invalid, invalidField, notFound } from '../../base/errors.ts'
import { allowLongWork } from '../../db/patience.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import type { Company } from '../companies/company.ts'
import { refuseForeignNames } from '../gateways/name-owners.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { sendersCalled } from '../senders/senders.ts'
import { currentTemplates } from '../templates/approved.ts'
import { budgetOf } from '../templates/effort.ts'
import type { TrafficCenter } from '../traffic-centers/traffic-center.ts'
import { listCenters } from '../traffic-centers/traffic-centers.ts'
import { withNamedTemplates } from './acceptance/named-templates.ts'
import type { ClientDispatch, ClientProgress, Dispatch, DispatchStatus, Recipient } from './dispatch.ts'
import { type Answer, addTo } from './dispatches.ts'
import { type DispatchKey, inappropriateStatus } from './lifecycle.ts'
import { requireUsableName } from './routing.ts'
import { refusalOfDispatchTimes } from './schedule.ts'
import * as store from './store.ts'

/**
 * Dispatches as the messaging API knows them: of one company, made without recipients under a name. They lie in the same
 * table as those of the partner API, and either API can go on with those of the other.
 */

/** Work that commits with a change of a dispatch, or not at all. */
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
    const [id] = await store.insertDispatchId(sql, companyId)
    const { dispatchId } = id!
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

/** Every name must be usable, those of later steps as well; only the first one's registrations belong to the dispatch. */
async function registrationsOf(sql: Sql, companyId: number, dispatch: ClientDispatch): Promise<number[]> {
  const steps = dispatch.cascade ?? []
  const names = [dispatch, ...steps].map(({ senderName }) => senderName)
  await refuseForeignNames(sql, companyId, [
    ...(dispatch.cascade ? [] : [dispatch]),
    ...steps.map((step, i) => ({ ...step, step: i })),
  ])
  const found = await sendersCalled(sql, companyId, [...new Set(names)])
  steps.forEach((step, i) => void requireUsableName(found, step, i))
  return requireUsableName(found, dispatch).map(({ senderId }) => senderId)
}

/**
 * Adds recipients to a dispatch that has not been started; what became of each, in the order submitted. With `from` only
 * while the dispatch has so many: an upload that goes on after days, when its keys are forgotten, adds none of them twice.
 */
export async function addRecipients(
  pool: Pool,
  numbering: Numbering,
  home: DispatchKey,
  request: { recipients: Recipient[]; linkBase: string; once: Once; from?: number; alongside?: Alongside },
): Promise<Answer[]> {
  const { recipients, linkBase } = request
  const answers: Answer[] = []
  const { from } = await once(pool, request.once, async sql => {
    await allowLongWork(sql)
    const [dispatch] = await store.lockDispatch(sql, home.companyId, home.dispatchId)
    if (dispatch!.status !== 'CREATED') throw inappropriateStatus()
    if (request.from !== undefined && request.from !== dispatch!.messageCount) {
      throw invalidField('from', `the dispatch has ${dispatch!.messageCount} recipients`)
    }
    const company = await requireActive(sql, home.companyId)
    await addTo(sql, numbering, { dispatch: dispatch!, company, recipients, linkBase, answers })
    await request.alongside?.(sql, home.dispatchId)
    return { from: dispatch!.messageCount }
  })
  // The same request came before: its answers are read from the messages.
  return answers.length > 0 ? answers : answersAgain(pool, home, from, recipients.length)
}

const answersAgain = async (sql: Sql, { companyId, dispatchId }: DispatchKey, from: number, count: number) =>
  store.selectAnswers(sql, await requireDispatchOf(sql, companyId, dispatchId), from, count)

/** A dispatch of this company. Someone else's is as unknown as one that does not exist. */
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

/** A page, newest first. */
export async function listShownDispatches(
  sql: Sql,
  companyId: number,
  status: DispatchStatus | undefined,
  { page, perPage }: { page: number; perPage: number },
) {
  const [[count], items, centers] = await Promise.all([
    store.countDispatches(sql, companyId, status),
    store.selectDispatches(sql, companyId, status, (page - 1) * perPage, perPage),
    listCenters(sql, companyId),
  ])
  return { total: count!.total, items: items.map(showing(centers)) }
}

function showing(centers: TrafficCenter[]) {
  const nameOf = new Map(centers.map(({ centerId, name }) => [centerId, name]))
  return (d: store.DispatchWithSums): ShownDispatch => ({
    ...d,
    centerName: d.centerId === null ? null : (nameOf.get(d.centerId) ?? null),
    messages: fatesOf(d.createdMessages, d.sentMessages, d.deliveredMessages, d.failedMessages, d.unsentMessages),
    parts: fatesOf(d.createdParts, d.sentParts, d.deliveredParts, d.failedParts, d.unsentParts),
  })
}

const fatesOf = (created: number, sent: number, delivered: number, failed: number, unsent: number) => ({
  total: created + sent + delivered + failed,
  delivered,
  undelivered: failed - unsent,
  unsent,
  sent,
  sending: created,
})
