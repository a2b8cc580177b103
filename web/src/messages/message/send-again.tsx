import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon } from '../../parts/content/icon.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import type { Life } from '../messages.ts'

/** A link to the form of one message, filled in with the failed message. */
export function SendAgain({ life }: { life: Life }) {
  const { say } = useWords()
  const { kind, rights } = useMe()
  if (!life.again || !rights.includes('traffic.send')) return null
  const search = { again: life.uuid, ...(kind === 'COMPANY' ? {} : { company: life.companyId }) }
  return (
    <Button leftSection={<Icon name="replay" />} renderRoot={props => <Link to="/send" search={search} {...props} />}>
      {say('message.again')}
    </Button>
  )
}
