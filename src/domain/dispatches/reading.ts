import { notFound } from '../../base/errors.ts'
import type { Sql } from '../../db/sql.ts'
import type { Partner } from '../partners/partner.ts'
import type { Dispatch, DispatchStatus, Progress } from './dispatch.ts'
import * as store from './store.ts'

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

/** A dispatch of any company, for staff. */
export async function requireAnyDispatch(sql: Sql, dispatchId: number): Promise<Dispatch & Progress & OpenCounts> {
  const companyId = (await companiesOfDispatches(sql, [dispatchId])).get(dispatchId)
  const [dispatch] = companyId === undefined ? [] : await store.selectDispatchOfWithSums(sql, companyId, dispatchId)
  if (!dispatch) throw notFound('Dispatch')
  return { ...withProgress(dispatch), ...inOperation(dispatch) }
}

/** The company of each of these dispatches that exists. */
export async function companiesOfDispatches(sql: Sql, dispatchIds: number[]): Promise<Map<number, number>> {
  const found = await store.selectCompanies(sql, dispatchIds)
  return new Map(found.map(({ companyId, dispatchId }) => [dispatchId, companyId]))
}

/** CREATED messages, and SENT messages without a final receipt. */
export type OpenCounts = { waiting: number; awaitingReceipt: number }

const inOperation = (d: store.DispatchWithSums): OpenCounts => ({
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
  const [total, items] = await Promise.all([
    store.countDispatches(sql, companyId, status),
    store.selectDispatches(sql, companyId, status, (page - 1) * perPage, perPage),
  ])
  return { total, items: items.map(withProgress) }
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
