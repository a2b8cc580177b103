import { useMutation, useQueryClient } from '@tanstack/react-query'
import { tellDone } from '../parts/dialogs/toast.tsx'
import { SENDERS } from './senders.ts'

/** Changes a sender name, refreshes all pages that show it, and shows a toast. */
export function useSenderChange<Given>(change: (given: Given) => Promise<unknown>, done: (given: Given) => string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (_, given) => {
      await client.invalidateQueries({ queryKey: SENDERS })
      await client.invalidateQueries({ queryKey: ['new-dispatch'] })
      tellDone(done(given))
    },
  })
}
