import { useToldChange } from '../parts/dialogs/use-told-change.ts'
import { SENDERS } from './senders.ts'

/** Changes a sender name, refreshes all pages that show it, and shows a toast. */
export const useSenderChange = <Given>(change: (given: Given) => Promise<unknown>, done: (given: Given) => string) =>
  useToldChange([SENDERS, ['new-dispatch']], change, done)
