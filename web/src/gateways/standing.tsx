import type { IconName } from '../parts/content/icon.tsx'
import { Status, type StatusKind } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import type { Gateway } from './gateways.ts'

type Standing = Gateway['standing']

const looks: Record<Standing, { kind: StatusKind; icon?: IconName }> = {
  up: { kind: 'ok' },
  throttled: { kind: 'warn' },
  down: { kind: 'fail' },
  unknown: { kind: 'warn', icon: 'slash' },
  paused: { kind: 'wait', icon: 'pause' },
  draining: { kind: 'sent', icon: 'wait' },
  drained: { kind: 'wait', icon: 'pause' },
}

/** The state of a gateway as a status. */
export function StandingStatus({ standing, isPill = false }: { standing: Standing; isPill?: boolean }) {
  const { say } = useWords()
  return (
    <Status {...looks[standing]} isPill={isPill}>
      {say(`gateway.standing.${standing}`)}
    </Status>
  )
}
