import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { useClock } from '../overview/clock.ts'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
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
  const budget = say('companies.budget', { month: month(at) })
  const columns: Column<Shown>[] = [
    { id: 'name', head: say('companies.company'), card: table.title, isKept: true },
    ...(hasMoney ? [{ id: 'budget', head: budget, className: styles.budget, card: styles.whole }] : []),
    { id: 'sent', head: say('companies.sent'), className: table.number },
    { id: 'hours', head: say('companies.byHour'), className: table.number, card: styles.wide },
    { id: 'delivered', head: say('companies.delivered'), className: table.number },
    { id: 'attention', head: say('companies.attention'), className: styles.last, card: table.corner },
  ]
  return (
    <ListTable
      name="companies"
      className={`${table.table} ${styles.list}`}
      columns={columns}
      rows={companies}
      canChoose
    >
      {company => (
        <CompanyRow key={company.companyId} company={isOfOne ? { ...company, partner: null } : company} zone={zone} />
      )}
    </ListTable>
  )
}

function CompanyRow({ company, zone }: { company: Shown; zone: string }) {
  const { number } = useFormats()
  const { share } = useClock(zone)
  const { companyId, today } = company
  const results = today.delivered + today.failed
  return (
    <tr>
      <Cell of="name">
        <Link className={table.main} to="/companies/$companyId" params={{ companyId }} search={{ company: companyId }}>
          {company.name}
        </Link>
        <SubLine company={company} />
      </Cell>
      <Cell of="budget">
        <BudgetBar company={company} zone={zone} />
      </Cell>
      <Cell of="sent">{number(today.sent)}</Cell>
      <Cell of="hours">
        <Spark values={company.sentByHour} />
      </Cell>
      <Cell of="delivered">
        {results > 0 ? share(today.delivered / results) : <span className={table.dim}>–</span>}
      </Cell>
      <Cell of="attention">
        <CompanyNeeds company={company} />
      </Cell>
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
