import { useFormats } from '../../format.ts'
import { Icon, type IconName } from '../../parts/content/icon.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../gateways.module.css'
import type { GatewayDetails } from '../gateways.ts'
import { troubleOf } from '../problems.ts'

/**
 * Explains why a gateway does not send as usual, and what an operator of the service can do. Empty for a working
 * gateway.
 */
export function Why({ gateway }: { gateway: GatewayDetails }) {
  const sentences = useSentences(gateway)
  const { standing } = gateway
  if (sentences.length === 0) return null
  const look = standing === 'down' ? styles.whyFail : ['throttled', 'unknown'].includes(standing) ? styles.whyWarn : ''
  return (
    <p className={`${styles.why} ${look}`} role="status">
      <Icon name={iconOf(standing)} />
      <span>{sentences.join(' ')}</span>
    </p>
  )
}

const iconOf = (standing: GatewayDetails['standing']): IconName =>
  standing === 'down' ? 'fail' : standing === 'throttled' || standing === 'unknown' ? 'warn' : 'pause'

function useSentences(gateway: GatewayDetails): string[] {
  const { say } = useWords()
  const { moment, time } = useFormats()
  const { standing, lastError, lastErrorAt, pausedAt, drainUntil, outstanding, waiting, stuck, throttledAt } = gateway
  const since = pausedAt ? moment(pausedAt) : ''
  const waitingMessages = () => {
    if (waiting === 0) return []
    return [stuck === 0 ? say('gateway.why.others') : say('gateway.why.waiting', { count: stuck })]
  }
  switch (standing) {
    case 'up':
      return []
    case 'throttled':
      return [say('gateway.why.throttled', { time: throttledAt ? time(throttledAt) : '' })]
    case 'unknown':
      return [say('gateway.why.unknown')]
    case 'down': {
      const reason = lastError ? troubleOf({ say }, lastError) : say('gateway.why.noError')
      return [
        reason,
        ...(lastErrorAt ? [say('gateway.why.errorAt', { time: moment(lastErrorAt) })] : []),
        ...waitingMessages(),
      ]
    }
    case 'paused':
      return [say('gateway.why.paused', { since }), ...waitingMessages()]
    case 'draining':
      return [
        say('gateway.why.draining', { count: outstanding }),
        say('gateway.why.until', { until: drainUntil ? moment(drainUntil) : '' }),
        ...waitingMessages(),
      ]
    case 'drained':
      return [
        outstanding === 0 ? say('gateway.why.drained') : say('gateway.why.drainOver', { count: outstanding }),
        ...waitingMessages(),
      ]
  }
}
