import type { ReviewStatus } from '../../../src/domain/review/review.ts'
import { Band, Said } from '../parts/content/band.tsx'
import { useWords } from '../words/words.ts'

type Props = { of: { status: ReviewStatus; comment: string | null }; denied: string; whatNext: string }

/** The comment of the staff on a rejected or denied sender name or template. */
export function RefusalBand({ of: { status, comment }, denied, whatNext }: Props) {
  const { say } = useWords()
  if (status !== 'REJECTED' && status !== 'DENIED') return null
  const isBack = status === 'REJECTED'
  return (
    <Band kind={isBack ? 'warn' : 'fail'} title={isBack ? say('sender.back') : denied}>
      {comment && <Said>{comment}</Said>}
      {isBack && <p className="note">{whatNext}</p>}
    </Band>
  )
}
