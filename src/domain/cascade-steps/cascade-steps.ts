import { errorCodes } from '../../base/error-codes.ts'
import { normaliseNumber } from '../../base/phone/phone-number.ts'
import { everyCompany } from '../../db/by-company.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import * as store from '../cascades/cascades.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { foreignNames } from '../gateways/name-owners.ts'
import type { Acceptance, MessageRequest, NewSingle, Refusal } from '../messages/single.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { openPriceBook } from '../pricing/pricing.ts'
import { NameRoutes } from '../routing/routing.ts'
import { sendersByNames } from '../senders/senders.ts'
import { type DraftContext, draftSingle, matchRequests } from '../singles/draft.ts'
import { type EventOfMessage, enqueueEvents } from '../singles/message-callbacks.ts'
import { acceptWithin, storeFailed } from '../singles/singles.ts'
import { currentTemplates } from '../templates/approved.ts'
import { Effort, forAccepted } from '../templates/effort.ts'
import type { FallbackSend } from '../verifications/verification.ts'
import { recordFallbacks } from '../verifications/verifications.ts'

export type CascadeContext = {
  pool: Pool
  numbering: () => Numbering
  linkBase: string
  billingZone: string
  now: Date
}

/** A step that failed, or whose time is over. */
export type EndedStep = { cascadeUuid: string; step: number }

/**
 * Writes the next step of each cascade once, in the transaction that ends the step before. A step that cannot be sent,
 * because of money or its sender name, is stored as FAILED, and the step after it is tried.
 */
export async function advanceCascades(
  sql: Transaction,
  companyId: number,
  ended: EndedStep[],
  context: CascadeContext,
): Promise<void> {
  let open = ended
  while (open.length > 0) {
    const next = await store.takeNextSteps(sql, companyId, open)
    if (next.length === 0) break
    open = await writeSteps(sql, companyId, next, context)
  }
  const cascadeUuids = ended.map(({ cascadeUuid }) => cascadeUuid)
  if (cascadeUuids.length > 0) await store.forgetCodes(sql, companyId, cascadeUuids)
}

/** Returns the steps that failed at once. */
async function writeSteps(sql: Transaction, companyId: number, steps: store.NextStep[], context: CascadeContext) {
  const draftContext = await readDraftContext(sql, companyId, steps, context)
  const drafts = steps.map(step => {
    const match = draftContext.matches.get(step.planned.request)
    return { step, draft: draftSingle(draftContext, requestOf(step, context.now), context.now, match) }
  })
  const ready = drafts.filter((each): each is Ready => !('kind' in each.draft))
  const outcomes = await acceptWithin(
    sql,
    companyId,
    ready.map(({ draft }) => draft),
    context,
  )
  await recordFallbacks(sql, companyId, fallbacksAmong(ready, outcomes))
  const failed = [
    ...ready.flatMap(({ step, draft }, i) => failureOf(step, draft, outcomes[i])),
    ...drafts.flatMap(({ step, draft }) =>
      'kind' in draft ? failureOf(step, undraftable(step, context.now), draft) : [],
    ),
  ]
  await storeAndReport(sql, companyId, failed, context.now)
  return failed.map(({ step: { cascadeUuid, step } }) => ({ cascadeUuid, step }))
}

/** The accepted steps that carry a verification code. */
const fallbacksAmong = (ready: Ready[], outcomes: Acceptance[]): FallbackSend[] =>
  ready.flatMap(({ step: { verificationUuid }, draft: { channelType } }, i) =>
    verificationUuid && outcomes[i]?.kind === 'accepted' ? [{ verificationUuid, channelType }] : [],
  )

type Ready = { step: store.NextStep; draft: NewSingle }
type Failed = { step: store.NextStep; single: NewSingle; errorCode: number }

const requestOf = (
  { cascadeUuid, step, planned: { request }, codeEndsAt }: store.NextStep,
  now: Date,
): MessageRequest => ({
  ...request,
  options: codeEndsAt === null ? request.options : { ...request.options, ttl: ttlWithin(codeEndsAt, now, request) },
  cascade: { uuid: cascadeUuid, step },
})

/** A step that carries a code ends with the code at the latest. The code was created when the cascade began. */
function ttlWithin(codeEndsAt: Date, now: Date, { options: { ttl } }: MessageRequest): number {
  const secondsLeft = Math.max(1, Math.ceil((codeEndsAt.getTime() - now.getTime()) / 1000))
  return Math.min(ttl ?? secondsLeft, secondsLeft)
}

function failureOf(step: store.NextStep, single: NewSingle, outcome: Acceptance | undefined): Failed[] {
  if (!outcome) throw new Error('A cascade step has no result')
  if (outcome.kind === 'accepted') return []
  return [{ step, single, errorCode: errorCodeOf(outcome) }]
}

/** The error code of a step that was refused. A refusal without its own code counts as refused by the channel. */
function errorCodeOf(refusal: Refusal): number {
  if (refusal.why === 'no funds') return errorCodes.noFunds
  return (refusal.why === 'invalid' ? refusal.errorCode : undefined) ?? errorCodes.refusedByChannel
}

/**
 * A step whose sender name or destination is not usable, with the fields that are known. The plan has the destination as
 * the client wrote it. The step is stored with the normalised destination, like the other steps.
 */
function undraftable(step: store.NextStep, now: Date): NewSingle {
  const request = requestOf(step, now)
  return {
    ...request,
    destination: normaliseNumber(request.destination) ?? request.destination,
    senderId: null,
    brandId: 0,
    priority: 3,
    parts: 0,
    tariffId: null,
    price: 0n,
    trafficType: request.trafficType ?? 'PROMO',
    templateId: null,
    sendAt: null,
    completeBy: null,
    expiresAt: new Date(0),
    endsEarly: false,
    links: [],
  }
}

async function storeAndReport(sql: Transaction, companyId: number, failed: Failed[], now: Date) {
  if (failed.length === 0) return
  const uuids = await storeFailed(sql, companyId, failed, now)
  const events = failed.map(({ step, single, errorCode }, i): EventOfMessage => {
    const of = { ...single, uuid: uuids[i]!, cascadeUuid: step.cascadeUuid, cascadeStep: step.step }
    return { of, what: { kind: 'status', status: 'unsent', errorCode, at: now } }
  })
  await enqueueEvents(sql, companyId, events, now)
}

async function readDraftContext(
  sql: Transaction,
  companyId: number,
  steps: store.NextStep[],
  { pool, numbering, linkBase, now }: CascadeContext,
): Promise<DraftContext> {
  const names = [...new Set(steps.map(({ planned }) => planned.request.senderName))]
  const { partnerId } = await requireAnyCompany(sql, companyId)
  const requests = steps.map(({ planned }) => planned.request)
  const [senders, foreign, prices, { templates }] = await Promise.all([
    sendersByNames(sql, companyId, names),
    foreignNames(sql, companyId, requests),
    openPriceBook(sql, partnerId),
    currentTemplates(sql, pool, companyId, now),
  ])
  const matches = await matchRequests(templates, requests, () => new Effort(forAccepted))
  return {
    routes: new NameRoutes(senders),
    foreignNames: foreign,
    prices,
    templates,
    matches,
    numbering: numbering(),
    linkBase,
  }
}

/** Stops cascades, and returns the ids of the cascades that had steps left. */
export async function endCascades(sql: Transaction, companyId: number, cascadeUuids: string[], now: Date) {
  if (cascadeUuids.length === 0) return new Set<string>()
  return new Set((await store.endCascades(sql, companyId, cascadeUuids, now)).map(({ cascadeUuid }) => cascadeUuid))
}

const BATCH = 5000
const MOST_BATCHES = 100

/** Deletes cascades whose messages are in detached months. */
export async function forgetOldCascades(sql: Sql): Promise<void> {
  const [oldest] = await store.selectOldestNeeded(sql)
  if (oldest) await everyCompany(sql, companyId => forgetCascadesOf(sql, companyId, oldest.uuid))
}

async function forgetCascadesOf(sql: Sql, companyId: number, belowUuid: string): Promise<void> {
  let batches = 0
  while ((await store.deleteOldCascades(sql, companyId, belowUuid, BATCH)).count === BATCH && ++batches < MOST_BATCHES);
}
