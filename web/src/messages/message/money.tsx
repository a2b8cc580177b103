import { useFormats } from '../../format.ts'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { useWords } from '../../words/words.ts'
import type { Life } from '../messages.ts'

/** The hold of the message and its settlement. For a cascade the sum of all steps. */
export function MoneyOfMessage({ life: { steps, currency } }: { life: Life }) {
  const { say } = useWords()
  const { money } = useFormats()
  const sum = (of: 'held' | 'released' | 'charged') => steps.reduce((total, { money }) => total + (money?.[of] ?? 0), 0)
  return (
    <Pairs>
      <Pair name={say('message.money.held')}>{money(sum('held'), currency)}</Pair>
      <Pair name={say('message.money.released')}>{money(sum('released'), currency)}</Pair>
      <Pair name={say('message.money.charged')} isSum>
        {money(sum('charged'), currency)}
      </Pair>
    </Pairs>
  )
}
