import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import type { Whole } from '../dispatches.ts'
import styles from './dispatch-page.module.css'

/** The reasons for which a started dispatch waits. */
export function DispatchWaits({ dispatch: { status, waits } }: { dispatch: Whole }) {
  const { say } = useWords()
  const sentence = useSentence()
  if (status !== 'STARTED' || waits.length === 0) return null
  return (
    <Section title={say('dispatch.waits')}>
      <ul className={styles.waits}>
        {waits.map(reason => (
          <li key={sentence(reason)}>
            <Icon name={isWarning(reason) ? 'warn' : 'wait'} />
            {sentence(reason)}
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Reason = Whole['waits'][number]

const isWarning = ({ kind }: Reason) => ['engine', 'company', 'sender', 'gateways'].includes(kind)

function useSentence() {
  const { say } = useWords()
  const { moment } = useFormats()
  const { channel } = useTrafficNames()
  return (reason: Reason): string => {
    switch (reason.kind) {
      case 'sender':
        return say('dispatch.waits.sender', { name: reason.senderName })
      case 'window':
        return say('dispatch.waits.window', { time: moment(reason.until) })
      case 'gateways':
        return say('dispatch.waits.gateways', {
          channel: channel(reason.channelType),
          names: reason.gateways.join(', '),
        }).trim()
      case 'limit':
        return say(`dispatch.waits.limit.${reason.of}`, { count: reason.partsPerSecond })
      case 'receipts':
        return say('dispatch.waits.receipts', { count: reason.messages })
      case 'engine':
        return say('dispatch.waits.engine')
      case 'company':
        return say('dispatch.waits.company')
    }
  }
}
