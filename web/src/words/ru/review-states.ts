export const reviewStates = {
  'review.status.DRAFT': 'Подано',
  'review.status.PRE_REVIEW': 'На проверке',
  'review.status.INTERNAL_REVIEW': 'На проверке',
  'review.status.EXTERNAL_REVIEW': 'У оператора',
  'review.status.AWAITING': 'Ждёт начала',
  'review.status.APPROVED': 'Согласовано',
  'review.status.REJECTED': 'Возвращено',
  'review.status.DENIED': 'Отказано',
  'review.status.CLOSED': 'Закрыто',
} as const
