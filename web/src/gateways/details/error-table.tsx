import { useFormats } from '../../format.ts'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import styles from '../gateways.module.css'
import type { GatewayDetails } from '../gateways.ts'

type Errors = GatewayDetails['errors']

/** The errors of the operator within the last hour, the most frequent first. */
export function ErrorTable({ errors }: { errors: Errors }) {
  const { say } = useWords()
  if (errors.length === 0) return <p className="note">{say('gateway.errors.none')}</p>
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th>{say('gateway.error')}</th>
          <th>{say('gateway.error.words')}</th>
          <th className={table.number}>{say('gateway.error.times')}</th>
          <th className={table.number}>{say('gateway.error.last')}</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(error => (
          <ErrorRow key={[error.kind, error.errorCode, error.operatorError, error.reason].join(' ')} error={error} />
        ))}
      </tbody>
    </table>
  )
}

function ErrorRow({ error: { kind, errorCode, operatorError, reason, count, lastAt } }: { error: Errors[number] }) {
  const { say } = useWords()
  const { number, time } = useFormats()
  const names = useTrafficNames()
  const own = [operatorError, reason].filter(Boolean).join(' · ')
  return (
    <tr>
      <td className={table.title}>
        <span className={table.main}>
          {kind === 'refused' && errorCode !== null ? names.reason(errorCode) : say(`gateway.error.${kind}`)}
        </span>
      </td>
      <td data-label={say('gateway.error.words')}>
        <span className={styles.code}>{own || '–'}</span>
      </td>
      <td className={`${table.number} ${table.corner}`}>{number(count)}</td>
      <td className={table.number} data-label={say('gateway.error.last')}>
        {time(lastAt)}
      </td>
    </tr>
  )
}
