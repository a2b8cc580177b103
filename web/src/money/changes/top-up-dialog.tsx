import type { TopUpForm } from '../../../../src/http/cabinet/money/money.ts'
import { BalanceDialog, type BalanceDialogProps } from './balance-dialog.tsx'

/** Records a payment of the company. */
export const TopUpDialog = (props: BalanceDialogProps) => (
  <BalanceDialog {...props} kind="topUp" path="top-ups" formOf={(amount, note): TopUpForm => ({ amount, note })} />
)
