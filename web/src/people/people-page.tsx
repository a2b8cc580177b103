import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { BoneRows } from '../parts/lists/bones.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { InviteButton, InviteDialog } from './invite-dialog.tsx'
import { peopleQuery, usePeoplePath } from './people.ts'
import { PeopleTable } from './people-table.tsx'

/** The people of the chosen company, else of the viewer's own company or partner, or the staff. */
export function PeoplePage() {
  const { say } = useWords()
  const mayChange = useMe().rights.includes('people.change')
  const [isInviting, setIsInviting] = useState(false)
  const { data, error, refetch } = useQuery(peopleQuery(usePeoplePath()()))
  const active = data?.people.filter(({ isActive }) => isActive).length
  return (
    <>
      <PageHead
        title={say('people.title')}
        note={active === undefined ? ' ' : say('people.count', { count: active })}
        actions={mayChange && <InviteButton onClick={() => setIsInviting(true)} />}
      />
      {data ? (
        <PeopleTable people={data.people} roles={data.roles} mayChange={mayChange} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows />
      )}
      {isInviting && data && <InviteDialog roles={data.roles} onClose={() => setIsInviting(false)} />}
    </>
  )
}
