import type { IconName } from '../parts/content/icon.tsx'
import { Status, type StatusKind } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import type { Listed } from './dispatches.ts'

const looks: Record<Listed['status'], { kind: StatusKind; icon: IconName }> = {
  CREATED: { kind: 'wait', icon: 'wait' },
  STARTED: { kind: 'sent', icon: 'play' },
  STOPPED: { kind: 'warn', icon: 'pause' },
  COMPLETED: { kind: 'ok', icon: 'ok' },
}

export function DispatchState({ status, isPill = false }: { status: Listed['status']; isPill?: boolean }) {
  const { say } = useWords()
  return (
    <Status {...looks[status]} isPill={isPill}>
      {say(`dispatches.status.${status}`)}
    </Status>
  )
}
