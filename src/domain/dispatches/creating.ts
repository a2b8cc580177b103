import type { Pool } from '../../db/sql.ts'
import { requireActiveCompany } from '../companies/companies.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { prepareAcceptance } from './acceptance/preparing.ts'
import { withPurpose } from './acceptance/purpose.ts'
import { type AcceptanceRequest, type AcceptanceSummary, acceptOnce } from './acceptance-summary.ts'
import type { NewDispatch } from './dispatch.ts'
import * as store from './store.ts'
import { writeRecipients } from './writing.ts'

/** Creates a dispatch and its first messages in one transaction. */
export async function createDispatch(
  pool: Pool,
  numbering: Numbering,
  request: AcceptanceRequest & { companyId: number; dispatch: NewDispatch },
): Promise<AcceptanceSummary> {
  return acceptOnce(pool, request, async sql => {
    const company = await requireActiveCompany(sql, request.partner, request.companyId)
    const dispatch = await withPurpose(sql, pool, request)
    const prepared = await prepareAcceptance(sql, numbering, { ...request, dispatch, company })
    const key = await store.insertDispatchId(sql, company.companyId)
    await store.insertDispatch(sql, key.companyId, key.dispatchId, dispatch, request.dispatch)
    const tally = await writeRecipients(sql, key, { ...prepared, recipients: request.recipients, firstPosition: 0 })
    return { dispatchId: key.dispatchId, tally, currency: company.currency, firstPosition: 0 }
  })
}
