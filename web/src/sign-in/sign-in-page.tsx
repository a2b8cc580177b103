import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useGoBackTo } from '../go-back.ts'
import { usePageTitle } from '../parts/pages/page-head.tsx'
import { queryClient } from '../session.ts'
import { useWords } from '../words/words.ts'
import { Entrance } from './entrance.tsx'
import { PasswordStep } from './password-step.tsx'
import { SecondStep } from './second-step.tsx'

/** Sign-in: login and password, then a code if the person uses a second factor. */
export function SignInPage() {
  const { say } = useWords()
  const { back, over } = useSearch({ from: '/sign-in' })
  const goBackTo = useGoBackTo()
  const [needsCode, setNeedsCode] = useState(false)
  usePageTitle(say('signIn.title'))

  const enter = () => {
    queryClient.clear()
    goBackTo(back)
  }
  return (
    <Entrance>
      {needsCode ? (
        <SecondStep onDone={enter} onBack={() => setNeedsCode(false)} />
      ) : (
        <PasswordStep isOver={over === true} onDone={needs => (needs ? setNeedsCode(true) : enter())} />
      )}
    </Entrance>
  )
}
