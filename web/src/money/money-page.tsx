import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useCompanyId } from '../parts/pages/one-company.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { Tabs } from '../parts/pages/tabs.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { AccountsTable } from './accounts-table.tsx'
import { Budget } from './budget/budget.tsx'
import { CorrectionDialog } from './changes/correction-dialog.tsx'
import { TermsDialog } from './changes/terms-dialog.tsx'
import { TopUpDialog } from './changes/top-up-dialog.tsx'
import { Ledger } from './ledger/ledger.tsx'
import { moneyQuery } from './money.ts'
import { Statements } from './statements/statements.tsx'

export const BudgetPage = () => <MoneyPage>{companyId => <Budget companyId={companyId} />}</MoneyPage>
export const LedgerPage = () => <MoneyPage isLedger>{companyId => <Ledger companyId={companyId} />}</MoneyPage>
export const StatementsPage = () => <MoneyPage>{companyId => <Statements companyId={companyId} />}</MoneyPage>

/** The money of the chosen company. Without a chosen company: the accounts of all companies. */
function MoneyPage({ isLedger = false, children }: { isLedger?: boolean; children: (companyId: number) => ReactNode }) {
  const { say } = useWords()
  const companyId = useCompanyId()
  if (companyId === undefined)
    return (
      <>
        <PageHead title={say('money.title')} note={say('money.allNote')} />
        <AccountsTable />
      </>
    )
  return (
    <>
      <PageHead
        title={say('money.title')}
        note={say('money.note')}
        actions={<Actions companyId={companyId} isLedger={isLedger} />}
      />
      <Tabs
        label={say('money.title')}
        tabs={[
          { to: '/money', name: say('money.tab.budget') },
          { to: '/money/ledger', name: say('money.tab.ledger') },
          { to: '/money/statements', name: say('money.tab.statements') },
        ]}
      />
      {children(companyId)}
    </>
  )
}

const dialogs = { topUp: TopUpDialog, correction: CorrectionDialog, terms: TermsDialog }

/** Staff record top-ups, and corrections beside the ledger. Owners of a partner set budgets. */
function Actions({ companyId, isLedger }: { companyId: number; isLedger: boolean }) {
  const { say } = useWords()
  const me = useMe()
  const mayChange = me.rights.includes('money.change')
  const { data } = useQuery({ ...moneyQuery(companyId), enabled: mayChange })
  const [open, setOpen] = useState<keyof typeof dialogs>()
  if (!mayChange) return null
  const OpenDialog = open && dialogs[open]
  const isStaff = me.kind === 'STAFF'
  return (
    <>
      {isStaff && isLedger ? (
        <Button onClick={() => setOpen('correction')}>{say('money.correction.open')}</Button>
      ) : (
        <Button onClick={() => setOpen('terms')}>{say(isStaff ? 'money.terms.open' : 'money.budget.change')}</Button>
      )}
      {isStaff && (
        <Button variant="filled" onClick={() => setOpen('topUp')}>
          {say('money.topUp.open')}
        </Button>
      )}
      {OpenDialog && data && <OpenDialog money={data} onClose={() => setOpen(undefined)} />}
    </>
  )
}
