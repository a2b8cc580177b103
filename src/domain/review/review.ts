/** The review of sender names and templates: its statuses and the order in which a request passes them. */

export const reviewStatuses = [
  'DRAFT',
  'PRE_REVIEW',
  'INTERNAL_REVIEW',
  'EXTERNAL_REVIEW',
  'AWAITING',
  'APPROVED',
  'REJECTED',
  'DENIED',
  'CLOSED',
] as const

export type ReviewStatus = (typeof reviewStatuses)[number]

/** The statuses before APPROVED, in order. Staff or automatic moderation take a request from each to the next. */
export const openStatuses = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING'] as const

/** Staff decide in these statuses. The engine submits a DRAFT, and AWAITING lasts until the first day. */
const waitingStatuses: readonly ReviewStatus[] = ['PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW']

export const isOpen = (status: ReviewStatus) => isOneOf(openStatuses, status)
export const isWaiting = (status: ReviewStatus) => isOneOf(waitingStatuses, status)
/** A closed or denied request keeps its status for ever. */
export const isOver = (status: ReviewStatus) => status === 'CLOSED' || status === 'DENIED'

const isOneOf = (statuses: readonly ReviewStatus[], status: ReviewStatus) => statuses.includes(status)

/** The cause of a change: the engine (automatic moderation and dates), staff, or the side that made the request. */
export type ReviewActor = 'clock' | 'staff' | 'partner' | 'company'

/** One change of the review status. */
export type ReviewChange = {
  from: ReviewStatus
  to: ReviewStatus
  by: ReviewActor
  comment: string | null
  changedAt: Date
}

export type Moderation = 'auto' | 'manual'

/** The columns of a sender name or template on which its next status depends. */
export type Reviewed = { companyId: number; status: ReviewStatus; validFrom: Date; validTo: Date | null }

/** The statuses that the engine changes by itself. With manual moderation it only submits and starts requests. */
export const statusesOfEngine = (moderation: Moderation): ReviewStatus[] =>
  moderation === 'auto' ? [...openStatuses] : ['DRAFT', 'AWAITING']

/** The statuses that the engine gives to a request now, one after another. */
export function stepsByEngine(
  { status, validFrom, validTo }: Reviewed,
  moderation: Moderation,
  now: Date,
): ReviewStatus[] {
  const ends = status === 'AWAITING' || status === 'APPROVED'
  if (ends && validTo && validTo <= now) return ['CLOSED']
  if (moderation === 'manual' && status === 'DRAFT') return ['PRE_REVIEW']
  return stepsToApproval({ status, validFrom }, now)
}

/** The remaining statuses up to AWAITING, and APPROVED from the first day on. */
export function stepsToApproval(
  { status, validFrom }: Pick<Reviewed, 'status' | 'validFrom'>,
  now: Date,
): ReviewStatus[] {
  const inOrder: readonly ReviewStatus[] = openStatuses
  const steps = inOrder.slice(inOrder.indexOf(status) + 1)
  return validFrom <= now ? [...steps, 'APPROVED'] : steps
}
