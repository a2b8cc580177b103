import { useMutation } from '@tanstack/react-query'
import type { Preferences } from '../../../src/http/cabinet/sign-in/account.ts'
import { ask } from '../api.ts'
import { tellDone, tellProblem } from '../parts/dialogs/toast.tsx'
import { useRefreshMe } from '../session.ts'
import { currentWords } from '../words/words.ts'

/** Stores name, language and theme of the person. */
export function useSavePreferences() {
  const refreshMe = useRefreshMe()
  return useMutation({
    mutationFn: (preferences: Preferences) => ask<void>('PATCH', '/account', preferences),
    onError: tellProblem,
    onSuccess: async () => {
      await refreshMe()
      tellDone(currentWords().say('app.saved'))
    },
  })
}
