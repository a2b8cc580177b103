import { useMutation, useQueryClient } from '@tanstack/react-query'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { TEMPLATES } from './templates.ts'

/** Changes a template, refreshes all pages that show it, and shows a toast. */
export function useTemplateChange<Given>(change: (given: Given) => Promise<unknown>, done: (given: Given) => string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (_, given) => {
      await client.invalidateQueries({ queryKey: TEMPLATES })
      tellDone(done(given))
    },
  })
}
