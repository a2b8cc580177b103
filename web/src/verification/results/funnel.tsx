import { useFormats } from '../../format.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { Sums } from '../verification.ts'

const steps = ['sent', 'delivered', 'confirmed'] as const

/** The number of codes that reach each step. */
export function Funnel({ total }: { total: Sums }) {
  const { say } = useWords()
  const { number } = useFormats()
  const names = {
    sent: say('verification.funnel.sent'),
    delivered: say('verification.funnel.delivered'),
    confirmed: say('verification.funnel.confirmed'),
  }
  return (
    <>
      <ul className={styles.funnel}>
        {steps.map(step => (
          <li key={step}>
            <span>{names[step]}</span>
            <b>{number(total[step])}</b>
            <svg width="100%" height="6" aria-hidden="true">
              <rect width="100%" height="6" rx="3" className={styles.track} />
              <rect
                width={`${Math.min(100, (total[step] / Math.max(1, total.sent)) * 100)}%`}
                height="6"
                rx="3"
                className={step === 'confirmed' ? styles.confirmed : styles.step}
              />
            </svg>
          </li>
        ))}
      </ul>
      <p className="note small">{say('verification.funnel.note')}</p>
    </>
  )
}
