import { setImmediate as nextTurn } from 'node:timers/promises'
import { copyInto, copyText } from '../../db/copy.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import type { CascadePlan } from '../messages/single.ts'

export type NewCascade = { uuid: string; plan: CascadePlan; verificationUuid: string | null }

export function insertCascades(sql: Sql, companyId: number, cascades: NewCascade[]) {
  return sql`
    insert into cascades (company_id, cascade_uuid, steps, next_step, verification_uuid)
    select o.company_id, q.message_uuid, q.steps::jsonb, 2, q.verification from companies o, unnest(
      ${cascades.map(({ uuid }) => uuid)}::uuid[], ${cascades.map(({ plan }) => JSON.stringify(plan.map(planned)))}::text[],
      ${cascades.map(({ verificationUuid }) => verificationUuid)}::uuid[]
    ) q (message_uuid, steps, verification)
    where o.company_id = ${companyId}`
}

/** The first step is a message already, which has the encrypted code. The plan does not keep it a second time. */
function planned(step: CascadePlan[number], index: number): CascadePlan[number] {
  if (index > 0 || !step.request.sealed) return step
  const { sealed: _, ...request } = step.request
  return { ...step, request }
}

/** Writes the cascades of a dispatch by COPY. Each batch holds the plans of up to 1000 recipients. */
export function copyCascades(
  sql: Transaction,
  { companyId, dispatchId }: { companyId: number; dispatchId: number },
  batches: Iterable<{ uuid: string; plan: object }[]>,
): Promise<void> {
  return copyInto(sql, 'cascades', ['company_id', 'cascade_uuid', 'dispatch_id', 'steps', 'next_step'], async write => {
    for (const batch of batches) {
      let rows = ''
      for (const { uuid, plan } of batch) {
        rows += `${companyId}\t${uuid}\t${dispatchId}\t${copyText(JSON.stringify(plan))}\t2\n`
      }
      await write(rows)
      await nextTurn() // other requests get their turn between two batches
    }
  })
}
