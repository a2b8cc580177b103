import { useFormats } from '../../format.ts'
import { useClock } from '../../overview/clock.ts'
import { Figure, Figures } from '../../parts/content/figures.tsx'
import { useWords } from '../../words/words.ts'
import type { Verification } from '../verification.ts'

/** Sent and confirmed codes, the time until confirmation and the costs, each compared with the period before. */
export function VerificationFigures({ data: { total, before, currency } }: { data: Verification }) {
  const { say } = useWords()
  const { number, money } = useFormats()
  const { share } = useClock('UTC')
  const numbers = say('verification.confirmed.note', { count: total.confirmed })
  const seconds = (count: number) => say('verification.seconds', { count })
  return (
    <Figures>
      <Figure label={say('verification.sent')} value={number(total.sent)}>
        <Comparison now={total.sent} before={before.sent} />
      </Figure>
      <Figure label={say('verification.confirmed')} value={total.sent > 0 ? share(shareOf(total)) : '–'}>
        {before.sent > 0 ? say('verification.confirmed.before', { numbers, share: share(shareOf(before)) }) : numbers}
      </Figure>
      <Figure
        label={say('verification.time')}
        value={total.secondsToConfirm === null ? '–' : seconds(total.secondsToConfirm)}
      >
        {before.secondsToConfirm === null
          ? say('verification.time.note')
          : say('verification.time.before', { time: seconds(before.secondsToConfirm) })}
      </Figure>
      <Figure
        label={say('verification.cost')}
        value={total.costOfConfirmed === null ? '–' : money(Number(total.costOfConfirmed), currency)}
      >
        {total.cost === null
          ? say('verification.cost.hidden')
          : say('verification.cost.note', { cost: money(Number(total.cost), currency) })}
      </Figure>
    </Figures>
  )
}

/**
 * A confirmation counts on its own day, also if its code was sent the day before. So a day may have more confirmed than
 * sent codes.
 */
export const shareOf = ({ confirmed, sent }: { confirmed: number; sent: number }) =>
  sent === 0 ? 0 : Math.min(1, confirmed / sent)

function Comparison({ now, before }: { now: number; before: number }) {
  const { say } = useWords()
  const { roughShare } = useClock('UTC')
  if (before === 0) return say('verification.sent.first')
  const change = Math.round((now / before - 1) * 100) / 100
  if (change === 0) return say('verification.sent.same')
  const share = roughShare(Math.abs(change))
  return change > 0 ? say('verification.sent.more', { share }) : say('verification.sent.less', { share })
}
