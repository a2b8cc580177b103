import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { Blank } from '../../parts/pages/blank.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import { useAmounts, useMoneyFormats } from '../amounts.ts'
import { figuresOf, type StatementMonth, statementsQuery } from '../money.ts'
import { FileLinks } from './file-links.tsx'

/** A row for each month since the first entry. */
export function Statements({ companyId }: { companyId: number }) {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(statementsQuery(companyId))
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={4} />
  if (data.months.length === 0)
    return <Blank drawing="bird" title={say('money.statements.empty')} text={say('money.statements.empty.text')} />
  return <Months companyId={companyId} months={data.months} currency={data.currency} />
}

function Months({ companyId, months, currency }: { companyId: number; months: StatementMonth[]; currency: string }) {
  const { say } = useWords()
  const { monthAndYear, sign } = useMoneyFormats()
  const figures = figuresOf(months.some(({ corrected }) => corrected !== 0))
  const amount = useAmounts(months.flatMap(month => figures.map(figure => month[figure])))
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th>{say('money.statement.month')}</th>
          {figures.map(figure => (
            <th key={figure} className={table.number}>
              {say(`money.statement.${figure}`)}, {sign(currency)}
            </th>
          ))}
          <th className={table.number}>{say('money.statement.files')}</th>
        </tr>
      </thead>
      <tbody>
        {months.map(month => (
          <tr key={month.month}>
            <td className={table.title}>
              <Link to="/money/statements/$month" params={{ month: month.month }} className="link">
                {monthAndYear(month.month)}
              </Link>
            </td>
            {figures.map(figure => (
              <td key={figure} className={table.number} data-label={say(`money.statement.${figure}`)}>
                {amount(month[figure])}
              </td>
            ))}
            <td className={table.number} data-label={say('money.statement.files')}>
              <FileLinks companyId={companyId} month={month.month} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
