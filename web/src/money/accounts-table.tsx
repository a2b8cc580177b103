import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Blank } from '../parts/blank.tsx'
import { BoneRows } from '../parts/bones.tsx'
import { ErrorState } from '../parts/error-state.tsx'
import { Status } from '../parts/status.tsx'
import table from '../parts/table.module.css'
import { useWords } from '../words/words.ts'
import { useMoneyFormats } from './amounts.ts'
import styles from './money.module.css'
import { accountsQuery, type CompanyAccount } from './money.ts'

/** Accounts of all companies, those that spend most first. */
export function AccountsTable() {
  const { say } = useWords()
  const { page = 1 } = useSearch({ strict: false }) as { page?: number }
  const { data, error, refetch } = useQuery(accountsQuery(page))
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={5} />
  if (data.items.length === 0)
    return <Blank drawing="bird" title={say('money.accounts.empty')} text={say('money.accounts.empty.text')} />
  return (
    <>
      <table className={table.table}>
        <thead>
          <tr>
            <th>{say('money.accounts.company')}</th>
            <th>{say('money.accounts.state')}</th>
            <th className={table.number}>{say('money.spentMonth')}</th>
            <th className={table.number}>{say('money.held')}</th>
            <th className={table.number}>{say('money.accounts.balance')}</th>
            <th className={table.number}>{say('money.accounts.free')}</th>
          </tr>
        </thead>
        <tbody>
          {data.items.map(account => (
            <AccountRow key={account.companyId} account={account} />
          ))}
        </tbody>
      </table>
      <Pages page={page} hasMore={page * data.perPage < data.total} />
    </>
  )
}

function AccountRow({ account }: { account: CompanyAccount }) {
  const { say } = useWords()
  const { money } = useMoneyFormats()
  const { companyId, name, billing, currency, spent, reserved, balance, budget, free } = account
  const terms = [
    say(`money.billing.${billing}`),
    budget === null
      ? say('money.accounts.noBudget')
      : say('money.accounts.budget', { budget: money(budget, currency) }),
  ].join(', ')
  return (
    <tr>
      <td className={table.title}>
        <Link to="/money" search={{ company: companyId }} className="link">
          {name}
        </Link>
        <span className={table.sub}>{terms}</span>
      </td>
      <td className={table.corner}>
        <AccountState account={account} />
      </td>
      <td className={table.number} data-label={say('money.spentMonth')}>
        {money(spent, currency)}
      </td>
      <td className={table.number} data-label={say('money.held')}>
        {money(reserved, currency)}
      </td>
      <td className={table.number} data-label={say('money.accounts.balance')}>
        {money(balance, currency)}
      </td>
      <td className={table.number} data-label={say('money.accounts.free')}>
        {free === null ? say('money.accounts.unlimited') : money(free, currency)}
      </td>
    </tr>
  )
}

const NEARLY = 0.2

function AccountState({ account: { free, budget, balance } }: { account: CompanyAccount }) {
  const { say } = useWords()
  if (free === null || free > (budget ?? balance) * NEARLY) return <Status kind="ok">{say('money.accounts.ok')}</Status>
  if (free <= 0) return <Status kind="fail">{say('money.accounts.used')}</Status>
  return <Status kind="warn">{say('money.accounts.nearly')}</Status>
}

function Pages({ page, hasMore }: { page: number; hasMore: boolean }) {
  const { say } = useWords()
  const navigate = useNavigate()
  const show = (next: number) =>
    void navigate({ to: '/money', search: { page: next === 1 ? undefined : next } as never })
  if (page === 1 && !hasMore) return null
  return (
    <div className={styles.pages}>
      <Button disabled={page === 1} onClick={() => show(page - 1)}>
        {say('money.accounts.previous')}
      </Button>
      <Button disabled={!hasMore} onClick={() => show(page + 1)}>
        {say('money.accounts.next')}
      </Button>
    </div>
  )
}
