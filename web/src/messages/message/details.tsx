import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import type { Life } from '../messages.ts'

/** Facts about a message that are not events. */
export function Details({ life, isBrief = false }: { life: Life; isBrief?: boolean }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const { operator } = useTrafficNames()
  const isOfCompany = useMe().kind === 'COMPANY'
  return (
    <Pairs>
      {!isOfCompany && <Pair name={say('message.detail.company')}>{life.companyName}</Pair>}
      {life.dispatchId !== null && (
        <Pair name={say('message.detail.dispatch')}>
          <Link className="link" to="/dispatches/$dispatchId" params={{ dispatchId: life.dispatchId }}>
            {life.dispatchName}
          </Link>
        </Pair>
      )}
      {life.senderName !== null && <Pair name={say('message.detail.sender')}>{life.senderName}</Pair>}
      {!isBrief && <Pair name={say('message.detail.operator')}>{operator(life.operator)}</Pair>}
      {!isBrief && life.trafficType !== null && (
        <Pair name={say('message.detail.traffic')}>{say(`message.traffic.${life.trafficType}`)}</Pair>
      )}
      {!isBrief && <Pair name={say('message.detail.parts')}>{life.parts}</Pair>}
      {!isBrief && life.expiresAt !== null && (
        <Pair name={say('message.detail.expires')}>{moment(life.expiresAt)}</Pair>
      )}
      {life.externalId !== null && <Pair name={say('message.detail.ownId')}>{life.externalId}</Pair>}
      {!isBrief && (
        <Pair name={say('message.detail.id')}>
          <span className="mono small">{life.uuid}</span>
        </Pair>
      )}
    </Pairs>
  )
}
