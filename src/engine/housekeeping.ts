import { forgetOldCallbacks } from '../domain/callbacks/callbacks.ts'
import { forgetOldCascades } from '../domain/cascade-steps/cascade-steps.ts'
import { forgetGoneEngines } from '../domain/engines/engines.ts'
import { hasTextsToRemove, removeOldTexts } from '../domain/erasure/old-texts.ts'
import { forgetOldMinutes } from '../domain/gateways/monitoring/minutes.ts'
import { forgetOldKeys } from '../domain/idempotency/idempotency.ts'
import { forgetOldStops } from '../domain/inbound/inbound.ts'
import { forgetIdleLanes } from '../domain/lanes/lanes.ts'
import { removeUnusedBuckets } from '../domain/limits/limits.ts'
import { ensureMessageMonths } from '../domain/messages/messages.ts'
import { detachOldMonths } from '../domain/messages/months.ts'
import { forgetOldUploads } from '../domain/numbering/uploads.ts'
import { forgetOldLogins } from '../domain/partners/partners.ts'
import { forgetOldSessions as forgetOldSignIns } from '../domain/people/sessions.ts'
import { forgetOldLateReceipts } from '../domain/receipts/late-receipts.ts'
import { forgetOldReceipts, rotateSubmissionDays } from '../domain/receipts/receipts.ts'
import { forgetOldRequests } from '../domain/request-log/request-log.ts'
import { forgetOldLinks } from '../domain/short-links/short-links.ts'
import { forgetOldVerifications } from '../domain/verifications/verifications.ts'
import { forgetOldSessions } from '../domain/widgets/housekeeping.ts'
import type { EngineContext } from './context.ts'

const LINKS_LIVE_MS = 365 * 24 * 3600_000

/**
 * Creates the partitions of the coming months and deletes rows that are no longer needed. A step that fails is logged
 * and does not stop the steps after it. The next run tries it again. An engine that stops begins no further step.
 */
export async function runHousekeeping(context: EngineContext, isStopping = () => false): Promise<void> {
  for (const [step, run] of Object.entries(stepsOf(context, isStopping))) {
    if (isStopping()) return
    try {
      await run()
    } catch (err) {
      context.log.error({ err, step }, 'housekeeping.failed')
    }
  }
}

const stepsOf = (
  { sql, clock, keepMonths, keepTextsDays }: EngineContext,
  isStopping: () => boolean,
): Record<string, () => PromiseLike<unknown>> => ({
  ensureMessageMonths: () => ensureMessageMonths(sql),
  rotateSubmissionDays: () => rotateSubmissionDays(sql),
  forgetOldReceipts: () => forgetOldReceipts(sql),
  forgetOldLateReceipts: () => forgetOldLateReceipts(sql),
  forgetOldLogins: () => forgetOldLogins(sql, clock()),
  forgetOldSignIns: () => forgetOldSignIns(sql, clock()),
  forgetOldStops: () => forgetOldStops(sql, clock()),
  forgetOldKeys: () => forgetOldKeys(sql),
  forgetOldCallbacks: () => forgetOldCallbacks(sql, clock()),
  forgetOldRequests: () => forgetOldRequests(sql, clock()),
  removeUnusedBuckets: () => removeUnusedBuckets(sql),
  forgetGoneEngines: () => forgetGoneEngines(sql),
  forgetOldMinutes: () => forgetOldMinutes(sql),
  forgetOldCascades: () => forgetOldCascades(sql),
  forgetOldVerifications: () => forgetOldVerifications(sql),
  forgetOldSessions: () => forgetOldSessions(sql),
  forgetIdleLanes: () => forgetIdleLanes(sql),
  forgetOldUploads: () => forgetOldUploads(sql, clock()),
  forgetOldLinks: () => forgetOldLinks(sql, new Date(clock().getTime() - LINKS_LIVE_MS)),
  removeOldTexts: async () => keepTextsDays && removeOldTexts(sql, keepTextsDays, clock(), { isStopping }),
  detachOldMonths: async () =>
    keepMonths &&
    detachOldMonths(sql, keepMonths, clock(), keepTextsDays ? month => hasTextsToRemove(sql, month) : undefined),
})
