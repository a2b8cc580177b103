import type { CascadeContext } from '../cascade-steps/cascade-steps.ts'
import type { Billing } from '../ledger/account.ts'

/** Without `cascades` a failed step of a cascade does not start the next one. */
export type RecordingContext = Billing & { cascades?: Pick<CascadeContext, 'numbering' | 'linkBase'> }
