import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { useClock } from '../overview/clock.ts'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import { BudgetBar } from './budget-bar.tsx'
import styles from './companies.module.css'
import type { Shown } from './companies.ts'
import { CompanyNeeds } from './company-state.tsx'
import { Spark } from './spark.tsx'

/** `isOfOne`: all companies belong to one partner, so the table leaves out the login of the partner. */
type Props = { companies: Shown[]; zone: string; at: string; isOfOne?: boolean }

export function CompanyTable({ companies, zone, at, isOfOne = false }: Props) {
  const { say } = useWords()
  const { month } = useClock(zone)
  const hasMoney = companies.some(({ account }) => account !== null)
  return (
    <table className={`${table.table} ${styles.list}`}>
      <thead>
        <tr>
          <th>{say('companies.company')}</th>
          {hasMoney && <th className={styles.budget}>{say('companies.budget', { month: month(at) })}</th>}
          <th className={table.number}>{say('companies.sent')}</th>
          <th className={table.number}>{say('companies.byHour')}</th>
          <th className={table.number}>{say('companies.delivered')}</th>
          <th className={styles.last}>{say('companies.attention')}</th>
        </tr>
      </thead>
      <tbody>
        {companies.map(company => (
          <CompanyRow
            key={company.companyId}
            company={isOfOne ? { ...company, partner: null } : company}
            zone={zone}
            hasMoney={hasMoney}
          />
        ))}
      </tbody>
    </table>
  )
}

function CompanyRow({ company, zone, hasMoney }: { company: Shown; zone: string; hasMoney: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useClock(zone)
  const { companyId, today } = company
  const results = today.delivered + today.failed
  return (
    <tr>
      <td className={table.title}>
        <Link className={table.main} to="/companies/$companyId" params={{ companyId }} search={{ company: companyId }}>
          {company.name}
        </Link>
        <SubLine company={company} />
      </td>
      {hasMoney && (
        <td className={styles.whole}>
          <BudgetBar company={company} zone={zone} />
        </td>
      )}
      <td className={table.number} data-label={say('companies.sent')}>
        {number(today.sent)}
      </td>
      <td className={styles.wide}>
        <Spark values={company.sentByHour} />
      </td>
      <td className={table.number} data-label={say('companies.delivered')}>
        {results > 0 ? share(today.delivered / results) : <span className={table.dim}>–</span>}
      </td>
      <td className={`${table.corner} ${styles.last}`}>
        <CompanyNeeds company={company} />
      </td>
    </tr>
  )
}

function SubLine({ company: { partner, running, counteragentInn } }: { company: Shown }) {
  const { say } = useWords()
  const words = [
    partner?.login,
    running > 0 ? say('companies.running', { count: running }) : say('companies.inn', { inn: counteragentInn }),
  ]
  return <span className={table.sub}>{words.filter(Boolean).join(' · ')}</span>
}
