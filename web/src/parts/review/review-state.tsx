import type { ReviewStatus } from '../../../../src/domain/review/review.ts'
import { useWords } from '../../words/words.ts'
import type { IconName } from '../content/icon.tsx'
import { Status, type StatusKind } from '../content/status.tsx'

const looks: Record<ReviewStatus, [StatusKind, IconName]> = {
  DRAFT: ['wait', 'wait'],
  PRE_REVIEW: ['sent', 'wait'],
  INTERNAL_REVIEW: ['sent', 'wait'],
  EXTERNAL_REVIEW: ['sent', 'wait'],
  AWAITING: ['ok', 'wait'],
  APPROVED: ['ok', 'ok'],
  REJECTED: ['warn', 'replay'],
  DENIED: ['fail', 'slash'],
  CLOSED: ['wait', 'slash'],
}

type Props = { status: ReviewStatus; suspended?: boolean; isPill?: boolean }

/** The review status of a sender name or a template. An approved name shows its suspension. */
export function ReviewState({ status, suspended = false, isPill = false }: Props) {
  const { say } = useWords()
  if (suspended && status === 'APPROVED') {
    return (
      <Status kind="warn" icon="pause" isPill={isPill}>
        {say('review.suspended')}
      </Status>
    )
  }
  const [kind, icon] = looks[status]
  return (
    <Status kind={kind} icon={icon} isPill={isPill}>
      {say(`review.status.${status}`)}
    </Status>
  )
}
