import { useToldChange } from '../parts/dialogs/use-told-change.ts'
import { TEMPLATES } from './templates.ts'

/** Changes a template, refreshes all pages that show it, and shows a toast. */
export const useTemplateChange = <Given>(change: (given: Given) => Promise<unknown>, done: (given: Given) => string) =>
  useToldChange([TEMPLATES], change, done)
