import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { useIsDrawn } from '../../parts/first-drawing.ts'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import { MessageStatus } from '../message-status.tsx'
import type { Found } from '../messages.ts'
import { groupedNumber } from '../names.ts'
import styles from './messages.module.css'

/** The rows of the first drawing. A wide screen shows about as many. */
const FIRST_ROWS = 12

type Props = { items: Found[]; openUuid: string | undefined; showsCompany: boolean; onOpen(uuid: string): boolean }

export function MessageList({ items, openUuid, showsCompany, onOpen }: Props) {
  const { say } = useWords()
  const shown = useIsDrawn() ? items : items.slice(0, FIRST_ROWS)
  return (
    <table className={`${table.table} ${styles.found}`}>
      <thead>
        <tr>
          <th>{say('messages.status')}</th>
          <th>{say('messages.number')}</th>
          <th>{say('messages.text')}</th>
          <th className={table.number}>{say('messages.time')}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(message => (
          <Row
            key={message.uuid}
            message={message}
            isOpen={message.uuid === openUuid}
            showsCompany={showsCompany}
            onOpen={onOpen}
          />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = { message: Found; isOpen: boolean; showsCompany: boolean; onOpen(uuid: string): boolean }

/** `onOpen` returns false if the page has no room for a panel. Then the browser follows the link. */
function Row({ message, isOpen, showsCompany, onOpen }: RowProps) {
  const { say } = useWords()
  const { time } = useFormats()
  const { channel, operator, reason } = useTrafficNames()
  const { uuid, status, destination, text, errorCode, channelType } = message
  const moment = useMomentOfDay(message.acceptedAt)
  return (
    <tr className={isOpen ? styles.open : ''} aria-current={isOpen || undefined} data-uuid={uuid}>
      <td className={`${table.corner} ${styles.corner}`}>
        <MessageStatus status={status} />
      </td>
      <td className={table.title}>
        <Link
          to="/messages/$uuid"
          params={{ uuid }}
          className={`${table.main} ${styles.number}`}
          onClick={event => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return
            if (onOpen(uuid)) event.preventDefault()
          }}
        >
          {groupedNumber(destination)}
        </Link>
        <span className={table.sub}>
          {operator(message.operator)} · {channel(channelType)}
          <span className="only-narrow"> · {moment}</span>
        </span>
      </td>
      <td className={styles.text}>
        <span className={styles.cut}>{text ?? <i>{say('messages.noText')}</i>}</span>
        {(errorCode !== null || showsCompany) && (
          <span className={`${table.sub} ${styles.cut}`}>
            {[showsCompany ? message.companyName : undefined, errorCode === null ? undefined : reason(errorCode)]
              .filter(Boolean)
              .join(' · ')}
          </span>
        )}
      </td>
      <td className={`${table.number} ${styles.time}`}>
        <time dateTime={message.acceptedAt} title={time(message.acceptedAt)}>
          {moment}
        </time>
      </td>
    </tr>
  )
}

/** The time of a message of today, or the day of an older message. */
function useMomentOfDay(moment: string): string {
  const { time, date } = useFormats()
  return new Date(moment).toDateString() === new Date().toDateString() ? time(moment) : date(moment)
}
