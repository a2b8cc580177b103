import { Status } from '../parts/content/status.tsx'
import { useWords } from '../words/words.ts'
import type { Partner } from './partners.ts'

type Props = { partner: Pick<Partner, 'isActive' | 'isLocked'>; isPill?: boolean }

export function PartnerState({ partner: { isActive, isLocked }, isPill = false }: Props) {
  const { say } = useWords()
  if (!isActive)
    return (
      <Status kind="wait" icon="slash" isPill={isPill}>
        {say('partners.state.disabled')}
      </Status>
    )
  return (
    <Status kind={isLocked ? 'warn' : 'ok'} isPill={isPill}>
      {say(isLocked ? 'partners.state.locked' : 'partners.state.active')}
    </Status>
  )
}
