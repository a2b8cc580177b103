import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { tellDone } from './toast.tsx'

/** Makes a change, refreshes the queries that show it, and shows a toast. */
export function useToldChange<Given>(
  shownBy: readonly QueryKey[],
  change: (given: Given) => Promise<unknown>,
  done: (given: Given) => string,
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (_, given) => {
      for (const queryKey of shownBy) await client.invalidateQueries({ queryKey })
      tellDone(done(given))
    },
  })
}
