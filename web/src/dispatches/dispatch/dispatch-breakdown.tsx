import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { useWords } from '../../words/words.ts'
import { type Breakdown, totalOf } from '../dispatches.ts'
import { useFigures } from '../figures.ts'
import { ProgressBar } from '../progress-bar.tsx'
import styles from './dispatch-page.module.css'

type Props = { breakdown: UseQueryResult<Breakdown> }

/** Figures for which the server reads all messages. They show the time of the count, and a button counts again. */
export function DispatchBreakdown({ breakdown }: Props) {
  const { say } = useWords()
  const { data, error, refetch } = breakdown
  if (!data) return error ? <ErrorState error={error} onRetry={refetch} /> : <BoneRows rows={4} />
  return (
    <>
      <Section title={say('dispatch.operators')} end={<CountedAt breakdown={breakdown} countedAt={data.countedAt} />}>
        <Operators operators={data.operators} />
      </Section>
      <Section title={say('dispatch.why')} end={data.reasons.length > 0 && <FailedMessages />}>
        <Reasons reasons={data.reasons} />
      </Section>
    </>
  )
}

function CountedAt({ breakdown, countedAt }: Props & { countedAt: string }) {
  const { say } = useWords()
  const { time } = useFormats()
  return (
    <>
      <span className="note">{say('dispatch.counted', { time: time(countedAt) })}</span>
      <button
        type="button"
        className={`link ${styles.count}`}
        disabled={breakdown.isFetching}
        onClick={() => breakdown.refetch()}
      >
        {say(breakdown.isFetching ? 'dispatch.counting' : 'dispatch.countAgain')}
      </button>
    </>
  )
}

function Operators({ operators }: Pick<Breakdown, 'operators'>) {
  const { say } = useWords()
  const names = useTrafficNames()
  const all = operators.reduce(added, { waiting: 0, sent: 0, delivered: 0, failed: 0 })
  return (
    <table className={`${table.table} ${styles.operators}`}>
      <thead>
        <tr>
          <th>{say('dispatch.operator')}</th>
          <th className={styles.bar}>{say('dispatches.progress')}</th>
          <th className={table.number}>{say('dispatch.total')}</th>
          <th className={table.number}>{say('dispatch.delivered')}</th>
          <th className={table.number}>{say('dispatch.sent')}</th>
          <th className={table.number}>{say('dispatch.failed')}</th>
          <th className={table.number}>{say('dispatch.share')}</th>
        </tr>
      </thead>
      <tbody>
        {operators.map(({ operator, ...counts }) => (
          <OperatorRow key={operator} name={names.operator(operator)} counts={counts} />
        ))}
      </tbody>
      {operators.length > 1 && (
        <tfoot>
          <OperatorRow name={say('dispatch.sum')} counts={all} />
        </tfoot>
      )}
    </table>
  )
}

type Counts = { waiting: number; sent: number; delivered: number; failed: number }

const added = (sum: Counts, more: Counts): Counts => ({
  waiting: sum.waiting + more.waiting,
  sent: sum.sent + more.sent,
  delivered: sum.delivered + more.delivered,
  failed: sum.failed + more.failed,
})

function OperatorRow({ name, counts }: { name: string; counts: Counts }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useFigures()
  const finished = counts.delivered + counts.failed
  return (
    <tr>
      <td className={`${table.title} ${table.main}`}>{name}</td>
      <td className={styles.whole}>
        <ProgressBar counts={counts} />
      </td>
      <td className={table.number} data-label={say('dispatch.total')}>
        {number(totalOf(counts))}
      </td>
      <td className={table.number} data-label={say('dispatch.delivered')}>
        {number(counts.delivered)}
      </td>
      <td className={`${table.number} ${styles.wide}`}>{number(counts.sent)}</td>
      <td className={table.number} data-label={say('dispatch.failed')}>
        {number(counts.failed)}
      </td>
      <td className={`${table.number} ${table.corner}`}>
        {finished > 0 ? share(counts.delivered, finished) : <span className={table.dim}>–</span>}
      </td>
    </tr>
  )
}

function FailedMessages() {
  const { say } = useWords()
  const { dispatchId } = useParams({ from: '/shell/dispatches/$dispatchId' })
  return (
    <Link to="/messages" search={{ dispatch: dispatchId, status: 'undelivered,unsent' }} className="link">
      {say('dispatch.why.messages')}
    </Link>
  )
}

function Reasons({ reasons }: Pick<Breakdown, 'reasons'>) {
  const { say } = useWords()
  const { number } = useFormats()
  const { reason } = useTrafficNames()
  const { dispatchId } = useParams({ from: '/shell/dispatches/$dispatchId' })
  const most = Math.max(...reasons.map(({ messages }) => messages))
  if (reasons.length === 0) return <p className="note">{say('dispatch.why.none')}</p>
  return (
    <ul className={styles.reasons}>
      {reasons.map(({ errorCode, wasSent, messages }) => (
        <li key={`${errorCode} ${wasSent}`}>
          <span>
            <Link
              to="/messages"
              search={{
                dispatch: dispatchId,
                error: errorCode ?? undefined,
                status: wasSent ? 'undelivered' : 'unsent',
              }}
              className={`link ${table.main}`}
            >
              {reason(errorCode ?? 0)}
            </Link>
            <span className={table.sub}>
              {say(wasSent ? 'dispatch.undelivered' : 'dispatch.unsent')}
              {errorCode !== null && ` · ${say('dispatch.code', { code: String(errorCode) })}`}
            </span>
          </span>
          <span className={styles.reasonBar} aria-hidden="true">
            <i style={{ width: `${(messages / most) * 100}%` }} />
          </span>
          <span className={styles.messages}>{number(messages)}</span>
        </li>
      ))}
    </ul>
  )
}
