import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { lifeQuery } from '../messages/messages.ts'
import { Band } from '../parts/content/band.tsx'
import { useFillIn } from '../parts/forms/kept-form.ts'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { useWords } from '../words/words.ts'
import { draftOf, emptyDraft, formFor } from './send.ts'

type Props = { uuid: string; companyId: number; onBegun(): void }

/** Makes a draft from a failed message. After that it is a normal draft, and changes survive a reload. */
export function BeginAgain({ uuid, companyId, onBegun }: Props) {
  const { data, error, refetch } = useQuery(lifeQuery(uuid, companyId))
  const again = data?.again
  const fillIn = useFillIn(formFor(companyId), emptyDraft())
  useEffect(() => {
    if (!again) return
    fillIn(draftOf(again))
    onBegun()
  }, [again, fillIn, onBegun])
  if (error) return <ErrorState error={error} onRetry={refetch} />
  return again === null ? <Impossible /> : <BoneRows rows={5} />
}

function Impossible() {
  const { say } = useWords()
  return (
    <Band kind="warn" title={say('send.again.impossible')}>
      <p>{say('send.again.why')}</p>
      <Link to="/send" className="link">
        {say('send.another')}
      </Link>
    </Band>
  )
}
