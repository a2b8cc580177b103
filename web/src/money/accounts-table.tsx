import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Status } from '../parts/content/status.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import table from '../parts/lists/table.module.css'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useWords } from '../words/words.ts'
import { useAmounts, useMoneyFormats } from './amounts.ts'
import styles from './money.module.css'
import { accountsQuery, type CompanyAccount } from './money.ts'

/** The accounts of all companies, the highest spending first. */
export function AccountsTable() {
  const { say } = useWords()
  const { page = 1 } = useSearch({ strict: false })
  const { data, error, refetch } = useQuery(accountsQuery(page))
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={5} />
  if (data.items.length === 0)
    return <Blank drawing="bird" title={say('money.accounts.empty')} text={say('money.accounts.empty.text')} />
  return (
    <>
      <Accounts accounts={data.items} />
      <Pages page={page} hasMore={page * data.perPage < data.total} />
    </>
  )
}

function Accounts({ accounts }: { accounts: CompanyAccount[] }) {
  const { say } = useWords()
  const { sign } = useMoneyFormats()
  const amount = useAmounts(
    accounts.flatMap(({ spent, reserved, balance, free }) => [spent, reserved, balance, free ?? 0]),
  )
  const [currency, ...others] = new Set(accounts.map(account => account.currency))
  const isOneCurrency = others.length === 0
  const unit = currency !== undefined && isOneCurrency ? `, ${sign(currency)}` : ''
  const amountOf = (value: number, of: string) => (isOneCurrency ? amount(value) : `${amount(value)}\u00a0${sign(of)}`)
  return (
    <table className={`${table.table} ${styles.accounts}`}>
      <thead>
        <tr>
          <th>{say('money.accounts.company')}</th>
          <th>{say('money.accounts.state')}</th>
          <th className={table.number}>{say('money.spentMonth') + unit}</th>
          <th className={table.number}>{say('money.held') + unit}</th>
          <th className={table.number}>{say('money.accounts.balance') + unit}</th>
          <th className={table.number}>{say('money.accounts.free') + unit}</th>
        </tr>
      </thead>
      <tbody>
        {accounts.map(account => (
          <AccountRow key={account.companyId} account={account} amountOf={amountOf} />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = { account: CompanyAccount; amountOf(value: number, currency: string): string }

function AccountRow({ account, amountOf }: RowProps) {
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
      <td className={`${table.title} ${styles.accountName}`}>
        <Link to="/money" search={{ company: companyId }} className="link">
          {name}
        </Link>
        <span className={table.sub}>{terms}</span>
      </td>
      <td className={table.corner}>
        <AccountState account={account} />
      </td>
      <td className={table.number} data-label={say('money.statement.spent')}>
        {amountOf(spent, currency)}
      </td>
      <td className={table.number} data-label={say('money.held')}>
        {amountOf(reserved, currency)}
      </td>
      <td className={table.number} data-label={say('money.accounts.balance')}>
        {amountOf(balance, currency)}
      </td>
      <td className={table.number} data-label={say('money.accounts.free')}>
        {free === null ? say('money.accounts.unlimited') : amountOf(free, currency)}
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
  const show = (next: number) => void navigate({ to: '/money', search: { page: next === 1 ? undefined : next } })
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
