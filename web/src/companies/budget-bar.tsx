import { useFormats } from '../format.ts'
import { useClock } from '../overview/clock.ts'
import bar from '../parts/charts/bar.module.css'
import { useWords } from '../words/words.ts'
import styles from './companies.module.css'
import type { CompanyAccount, Shown } from './companies.ts'

type Props = { company: Pick<Shown, 'account' | 'attention'>; zone: string; isThick?: boolean }

/** The spent and reserved amounts of this month's budget, and the day on which the budget ends. */
export function BudgetBar({ company, zone, isThick = false }: Props) {
  const { account } = company
  if (!account) return null
  const { budget, spent, reserved } = account
  const width = (part: number) => ({ width: `${Math.min(100, (part / (budget || 1)) * 100)}%` })
  const isNearlyUsed = company.attention.some(({ kind }) => kind === 'budget')
  return (
    <>
      {budget !== null && (
        <div className={`${bar.bar} ${styles.bar} ${isThick ? `${bar.thick} ${styles.thick}` : ''}`} aria-hidden="true">
          <i className={isNearlyUsed ? styles.nearly : styles.spent} style={width(spent)} />
          <i className={styles.held} style={width(reserved)} />
        </div>
      )}
      <span className={styles.words}>
        <BudgetWords company={company} account={account} zone={zone} />
      </span>
    </>
  )
}

function BudgetWords({ company, account, zone }: Props & { account: CompanyAccount }) {
  const { say } = useWords()
  const { money } = useFormats()
  const { share, day } = useClock(zone)
  const { budget, spent, reserved, currency } = account
  if (budget === null) return say('companies.budget.none', { spent: money(spent, currency) })
  const line = company.attention.find(({ kind }) => kind === 'budget')
  const until = line?.kind === 'budget' ? line.runsOutOn : null
  const used = budget === 0 ? share(1) : share((spent + reserved) / budget)
  const given = { share: used, budget: money(budget, currency) }
  // At noon UTC the date is the same in all zones from UTC-12 to UTC+11.
  return until
    ? say('companies.budget.until', { ...given, date: day(`${until}T12:00:00Z`) })
    : say('companies.budget.of', given)
}
