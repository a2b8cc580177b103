import { useFormats } from '../format.ts'
import { useWords } from '../words/words.ts'
import { Pair } from './details.tsx'
import styles from './message.module.css'
import type { Life } from './messages.ts'

/** What was held for the message, and what became of it; of a cascade all steps together. */
export function MoneyOfMessage({ life: { steps, currency } }: { life: Life }) {
  const { say } = useWords()
  const { money } = useFormats()
  const sum = (of: 'held' | 'released' | 'charged') => steps.reduce((total, step) => total + step.money[of], 0)
  return (
    <dl className={styles.pairs}>
      <Pair name={say('message.money.held')}>{money(sum('held'), currency)}</Pair>
      <Pair name={say('message.money.released')}>{money(sum('released'), currency)}</Pair>
      <Pair name={say('message.money.charged')} isSum>
        {money(sum('charged'), currency)}
      </Pair>
    </dl>
  )
}
