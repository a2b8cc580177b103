/** Review statuses of sender names and templates, for their pages and the audit log. */
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
