import { useWords } from '../../words/words.ts'
import { useMoneyFormats } from '../amounts.ts'
import styles from '../money.module.css'
import type { Money } from '../money.ts'

/** The free amount, and a bar with the spent and reserved shares of the limit. */
export function Gauge({
  money,
}: {
  money: Pick<Money, 'spent' | 'reserved' | 'free' | 'budget' | 'balance' | 'billing' | 'currency'>
}) {
  const { say } = useWords()
  const { money: amount } = useMoneyFormats()
  const { spent, reserved, free, balance, currency } = money
  if (free === null)
    return (
      <div className={styles.gauge}>
        <p>
          <span className={styles.big}>{amount(spent, currency)}</span> <span>{say('money.noLimit')}</span>
        </p>
        <p className="note">{say('money.balanceNow', { balance: amount(balance, currency) })}</p>
      </div>
    )
  const { whole, used, words } = wholeOf(money)
  const [shown, text] = free < 0 ? [-free, 'money.over' as const] : [free, words]
  return (
    <div className={styles.gauge}>
      <p>
        <span className={styles.big}>{amount(shown, currency)}</span>{' '}
        <span>{say(text, { whole: amount(whole, currency) })}</span>
      </p>
      <div className={styles.bar} aria-hidden="true">
        <i className={styles.spent} style={{ width: partOf(used, whole) }} />
        <i className={styles.held} style={{ width: partOf(reserved, whole) }} />
      </div>
      {money.billing === 'PREPAID' && money.budget !== null && (
        <p className="note">{say('money.balanceNow', { balance: amount(balance, currency) })}</p>
      )}
    </div>
  )
}

/** The limit that is reached first: the budget of the month, or the balance. */
function wholeOf({
  budget,
  spent,
  reserved,
  balance,
  billing,
}: Pick<Money, 'budget' | 'spent' | 'reserved' | 'balance' | 'billing'>) {
  const isBudget = budget !== null && (billing !== 'PREPAID' || budget - spent <= balance)
  return isBudget
    ? { whole: budget, used: spent, words: 'money.freeOfBudget' as const }
    : { whole: Math.max(balance, reserved), used: 0, words: 'money.freeOfBalance' as const }
}

const partOf = (amount: number, whole: number) => (whole > 0 ? `${Math.min(100, (amount / whole) * 100)}%` : '0')
