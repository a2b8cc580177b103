import { Status } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import type { Found } from './messages.ts'
import { kindOfStatus, type StatusName } from './names.ts'

export function MessageStatus({ status, isPill = false }: { status: Found['status']; isPill?: boolean }) {
  const { say } = useWords()
  const name = status as StatusName
  return (
    <Status kind={kindOfStatus[name]} isPill={isPill} {...(name === 'unsent' ? { icon: 'slash' as const } : {})}>
      {say(`messages.status.${name}`)}
    </Status>
  )
}
