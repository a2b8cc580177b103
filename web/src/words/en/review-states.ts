/** How far a sender name or a template is; its pages and the audit log say it. */
export const reviewStates = {
  'review.status.DRAFT': 'Submitted',
  'review.status.PRE_REVIEW': 'In review',
  'review.status.INTERNAL_REVIEW': 'In review',
  'review.status.EXTERNAL_REVIEW': 'At the operator',
  'review.status.AWAITING': 'Starts later',
  'review.status.APPROVED': 'Approved',
  'review.status.REJECTED': 'Sent back',
  'review.status.DENIED': 'Denied',
  'review.status.CLOSED': 'Closed',
} as const
