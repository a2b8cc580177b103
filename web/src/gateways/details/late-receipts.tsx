import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { groupedNumber } from '../../messages/names.ts'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import table from '../../parts/lists/table.module.css'
import { useWords } from '../../words/words.ts'
import styles from '../gateways.module.css'
import type { GatewayDetails } from '../gateways.ts'

/** The newest receipts that arrived after the end of their message. */
export function LateReceipts({ late: { count, isMore, newest } }: Pick<GatewayDetails, 'late'>) {
  const { say } = useWords()
  const { number } = useFormats()
  return (
    <Section title={say('gateway.late')} note={isMore ? say('gateway.late.more', { count }) : number(count)}>
      <p className="note">{say(count === 0 ? 'gateway.late.none' : 'gateway.late.note')}</p>
      {count > 0 && (
        <table className={table.table}>
          <thead>
            <tr>
              <th>{say('gateway.late.message')}</th>
              <th>{say('gateway.late.says')}</th>
              <th>{say('gateway.error.words')}</th>
              <th className={table.number}>{say('gateway.late.at')}</th>
            </tr>
          </thead>
          <tbody>
            {newest.map(receipt => (
              <LateRow key={`${receipt.uuid} ${receipt.status}`} receipt={receipt} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

type Receipt = GatewayDetails['late']['newest'][number]

function LateRow({ receipt: { uuid, destination, status, operatorError, receivedAt } }: { receipt: Receipt }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const isDelivered = status === 'DELIVERED'
  return (
    <tr>
      <td className={table.title}>
        <Link className="link" to="/messages/$uuid" params={{ uuid }}>
          {destination ? groupedNumber(destination) : uuid.slice(0, 8)}
        </Link>
      </td>
      <td className={table.corner}>
        <Status kind={isDelivered ? 'ok' : 'fail'}>
          {say(isDelivered ? 'gateway.late.delivered' : 'gateway.late.failed')}
        </Status>
      </td>
      <td data-label={say('gateway.error.words')}>
        <span className={styles.code}>{operatorError || '–'}</span>
      </td>
      <td className={table.number} data-label={say('gateway.late.at')}>
        {moment(receivedAt)}
      </td>
    </tr>
  )
}
