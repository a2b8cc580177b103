import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats } from '../format.ts'
import { groupedNumber } from '../messages/names.ts'
import { Status } from '../parts/content/status.tsx'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { PageLink } from '../parts/pages/page-link.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import styles from './inbound.module.css'
import type { Message } from './inbound.ts'

export function InboundTable({ messages }: { messages: Message[] }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.written}`}>
      <thead>
        <tr>
          <th>{say('inbound.number')}</th>
          <th>{say('inbound.text')}</th>
          <th>{say('inbound.to')}</th>
          <th>{say('inbound.center')}</th>
          <th className={table.number}>{say('inbound.time')}</th>
        </tr>
      </thead>
      <tbody>
        {messages.map(message => (
          <Row key={message.uuid} message={message} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ message }: { message: Message }) {
  const { say } = useWords()
  const { date, time } = useFormats()
  const { channel } = useTrafficNames()
  const maySend = useMe().rights.includes('traffic.send')
  const { destination, senderName, centerName, receivedAt, ruleId, isRuleThere } = message
  const how =
    ruleId === null
      ? 'inbound.rule.none'
      : isRuleThere
        ? ('inbound.rule.taken' as const)
        : ('inbound.rule.gone' as const)
  return (
    <tr>
      <td className={table.title}>
        <span className={`${table.main} ${styles.nowrap}`}>{groupedNumber(destination)}</span>
        {maySend && !message.isStop && (
          <span className={table.sub}>
            <PageLink to="/send" search={{ to: `+${destination}` }}>
              {say('inbound.answer')}
            </PageLink>
          </span>
        )}
      </td>
      <td className={styles.text}>
        <Text text={message.text} />
        {message.isStop && <Stopped message={message} />}
      </td>
      <td data-label={say('inbound.to')} className={styles.name}>
        {senderName}
        <span className={table.sub}>{channel(message.channelType)}</span>
      </td>
      <td data-label={say('inbound.center')} className={styles.name}>
        {centerName}
        <span className={table.sub}>{say(how)}</span>
      </td>
      <td data-label={say('inbound.time')} className={table.number}>
        <time dateTime={receivedAt}>
          {date(receivedAt)} <span className={table.sub}>{time(receivedAt)}</span>
        </time>
      </td>
    </tr>
  )
}

const SHORT = 280

function Text({ text }: { text: string }) {
  const { say } = useWords()
  const [isOpen, setIsOpen] = useState(false)
  if (text.trim() === '') return <i className={table.dim}>{say('inbound.noText')}</i>
  if (text.length <= SHORT || isOpen) return <span className={styles.words}>{text}</span>
  return (
    <span className={styles.words}>
      {text.slice(0, SHORT)}…{' '}
      <button type="button" className={`link ${styles.plain}`} onClick={() => setIsOpen(true)}>
        {say('inbound.whole')}
      </button>
    </span>
  )
}

/** Shows that a message contained a stop word, with a link to the blacklist. */
function Stopped({ message: { destination, isBlacklisted } }: { message: Message }) {
  const { say } = useWords()
  const seesSettings = useMe().rights.includes('settings.see')
  return (
    <span className={styles.stop}>
      <Status kind={isBlacklisted ? 'warn' : 'wait'} icon="slash">
        {say(isBlacklisted ? 'inbound.stop' : 'inbound.stop.undone')}
      </Status>
      {seesSettings && isBlacklisted && (
        <Link to="/blacklist" search={before => ({ company: before.company, q: `+${destination}` })} className="link">
          {say('inbound.stop.show')}
        </Link>
      )}
    </span>
  )
}
