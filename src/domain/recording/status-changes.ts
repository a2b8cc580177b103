import type { Sql } from '../../db/sql.ts'
import type { StatusUpdate } from '../messages/message.ts'
import { type StatusChange, updateStatuses } from '../messages/messages.ts'
import { joinStatusReports, type StatusReport } from '../receipts/status-report.ts'

/** Joins the reports about the same message into one. */
export function joinReports(reports: StatusReport[]): StatusReport[] {
  const byUuid = new Map<string, StatusReport>()
  for (const report of reports) {
    const known = byUuid.get(report.uuid)
    byUuid.set(report.uuid, known ? joinStatusReports(known, report) : report)
  }
  return byUuid.size === reports.length ? reports : [...byUuid.values()]
}

/**
 * Changes the statuses of messages and returns the changes that really happened. A message that was submitted and
 * delivered within one batch goes straight to its final status. A receipt can arrive before the submission is recorded:
 * a message that is not found SENT is looked for among the CREATED and counts as sent. A receipt outweighs a refusal,
 * because the message was then submitted twice and the operator accepted it once.
 */
export async function changeStatuses(sql: Sql, companyId: number, reports: StatusReport[]): Promise<StatusChange[]> {
  const submitted = reports.filter(({ sentAt, refused, final }) => sentAt || (refused && !final))
  const reported = reports.filter(({ sentAt, final }) => final && !sentAt)
  const changed = await Promise.all([
    updateStatuses(sql, companyId, 'CREATED', submitted.map(updateOf)),
    updateStatuses(sql, companyId, 'SENT', reported.map(updateOf)),
  ])
  const changes = changed.flat()
  if (changes.length === submitted.length + reported.length) return changes
  const found = new Set(changes.map(({ uuid }) => uuid))
  const missing = reports.filter(({ uuid, final }) => final && !found.has(uuid))
  return missing.length === 0 ? changes : [...changes, ...(await changeMissing(sql, companyId, missing))]
}

/** Final reports whose message did not have the expected status. Another process has recorded the submission, or it is not recorded yet. */
async function changeMissing(sql: Sql, companyId: number, missing: StatusReport[]): Promise<StatusChange[]> {
  const recordedByOthers = missing.filter(({ sentAt }) => sentAt)
  const early = missing.flatMap(report =>
    report.sentAt || !report.final ? [] : { ...report, sentAt: report.final.at },
  )
  return [
    ...(await updateStatuses(sql, companyId, 'SENT', recordedByOthers.map(updateOf))),
    ...(await updateStatuses(sql, companyId, 'CREATED', early.map(updateOf))),
  ]
}

function updateOf({ uuid, sentAt, refused, final }: StatusReport): StatusUpdate {
  const end = final ?? (sentAt ? undefined : refused)
  return {
    uuid,
    to: final?.status ?? (end ? 'FAILED' : 'SENT'),
    sentAt: sentAt ?? null,
    finalAt: end?.at ?? null,
    errorCode: end?.errorCode ?? null,
    operatorError: end?.operatorError ?? null,
  }
}
