import type { Pool, Sql } from '../../db/sql.ts'
import { requireActiveCompany } from '../companies/companies.ts'
import type { NewMessage } from '../messages/message.ts'
import type { Numbering } from '../numbering/numbering.ts'
import type { Partner } from '../partners/partner.ts'
import { acceptRecipients } from './acceptance/acceptance.ts'
import { type PreparationRequest, prepareAcceptance } from './acceptance/preparing.ts'
import { withPurpose } from './acceptance/purpose.ts'
import { lanesFor } from './acceptance/recipient-lanes.ts'
import { emptyTally, type Tally } from './acceptance/tally.ts'
import { type AcceptanceRequest, type AcceptanceSummary, summaryOf } from './acceptance-summary.ts'
import type { NewDispatch, Recipient } from './dispatch.ts'
import { collectResults, type RecipientResult } from './writing.ts'

/** Computes the response of `createDispatch` and stores nothing. */
export async function dryRunDispatch(
  sql: Pool,
  numbering: Numbering,
  request: AcceptanceRequest & { companyId: number; dispatch: NewDispatch },
): Promise<AcceptanceSummary> {
  const dryRun = await prepareDryRun(sql, numbering, { ...request, firstRecipient: request.recipients[0] })
  return dryRun(request.recipients)
}

/** Computes the summary of these recipients, and adds the result of each recipient to `results`. */
export type DryRun = (recipients: Recipient[], results?: RecipientResult[]) => Promise<AcceptanceSummary>

/**
 * Prepares a dry run whose recipients arrive in several requests. Each request is computed as if its recipients were added
 * to the dispatch that the first recipient began.
 */
export async function prepareDryRun(
  sql: Pool,
  numbering: Numbering,
  request: { partner: Partner; companyId: number; dispatch: NewDispatch; firstRecipient: Recipient | undefined },
): Promise<DryRun> {
  const { firstRecipient } = request
  const company = await requireActiveCompany(sql, request.partner, request.companyId)
  const dispatch = await withPurpose(sql, sql, { ...request, recipients: firstRecipient ? [firstRecipient] : [] })
  return async (recipients, results = []) => {
    const tally = emptyTally()
    const messages = dryRunMessages(sql, numbering, { dispatch, company, recipients }, tally)
    for await (const _ of collectResults(messages, results));
    return summaryOf({ dispatchId: 0, tally, currency: company.currency })
  }
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Yields the messages of the recipients, slice by slice, and stores nothing. Adds to the tally. */
export async function* dryRunMessages(
  sql: Sql,
  numbering: Numbering,
  request: PreparationRequest,
  tally: Tally,
): AsyncGenerator<NewMessage[]> {
  const { rules, numbers } = await prepareAcceptance(sql, numbering, request)
  const lanes = lanesFor(rules, numbers).map((lane, laneId) => ({ ...lane, laneId, tail: 0 }))
  const { recipients } = request
  yield* acceptRecipients(
    { rules, recipients, numbers, lanes, defaultLanes: lanes, firstPosition: 0, uuidOf: () => NIL_UUID },
    tally,
  )
}
