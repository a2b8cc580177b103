import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import table from '../../parts/lists/table.module.css'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import { DispatchState } from '../dispatch-status.tsx'
import { handedOf, type Listed, totalOf } from '../dispatches.ts'
import { useFigures } from '../figures.ts'
import { ProgressBar } from '../progress-bar.tsx'
import styles from './dispatches.module.css'

/** Shows the company's name if the list has several companies. */
export function DispatchTable({ dispatches, isOfAll }: { dispatches: Listed[]; isOfAll: boolean }) {
  const { say } = useWords()
  const hasMoney = dispatches.some(({ estimate }) => estimate !== null)
  const isOfSeveral = isOfAll && new Set(dispatches.map(({ companyId }) => companyId)).size > 1
  return (
    <table className={`${table.table} ${styles.list}`}>
      <thead>
        <tr>
          <th>{say('dispatches.dispatch')}</th>
          <th>{say('dispatches.status')}</th>
          <th className={styles.progress}>{say('dispatches.progress')}</th>
          <th className={table.number}>{say('dispatches.delivered')}</th>
          <th className={table.number}>{say('dispatches.failed')}</th>
          {hasMoney && <th className={table.number}>{say('dispatches.estimate', { currency: '₽' })}</th>}
          <th className={table.number}>{say('dispatches.start')}</th>
        </tr>
      </thead>
      <tbody>
        {dispatches.map(dispatch => (
          <DispatchRow key={dispatch.dispatchId} dispatch={dispatch} hasMoney={hasMoney} hasCompany={isOfSeveral} />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = { dispatch: Listed; hasMoney: boolean; hasCompany: boolean }

function DispatchRow({ dispatch, hasMoney, hasCompany }: RowProps) {
  const { say } = useWords()
  const { number, moment } = useFormats()
  const { share, amount } = useFigures()
  const { dispatchId, delivered, failed, estimate } = dispatch
  const channels = useChannels(dispatch)
  const begins = dispatch.startedAt ?? dispatch.startAt
  return (
    <tr>
      <td className={table.title}>
        <Link className={table.main} to="/dispatches/$dispatchId" params={{ dispatchId }} search={{}}>
          {dispatch.name}
        </Link>
        <span className={table.sub}>
          {[hasCompany && dispatch.companyName, channels, dispatchId].filter(Boolean).join(' · ')}
        </span>
      </td>
      <td className={table.corner}>
        <DispatchState status={dispatch.status} />
      </td>
      <td className={styles.whole}>
        {dispatch.status !== 'CREATED' && <ProgressBar counts={dispatch} />}
        <ProgressWords dispatch={dispatch} />
      </td>
      <td className={table.number} data-label={say('dispatches.delivered')}>
        {delivered + failed > 0 ? share(delivered, delivered + failed) : <span className={table.dim}>–</span>}
      </td>
      <td className={table.number} data-label={say('dispatches.failed')}>
        {number(failed)}
      </td>
      {hasMoney && (
        <td className={table.number} data-label={say('dispatches.estimate', { currency: '₽' })}>
          {estimate === null ? '' : amount(estimate)}
        </td>
      )}
      <td className={`${table.number} ${styles.wide}`}>
        {begins ? moment(begins) : <span className={table.dim}>–</span>}
      </td>
    </tr>
  )
}

/** `Viber, then SMS`. */
export function useChannels({ channels }: Pick<Listed, 'channels'>): string {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  return channels.map(channel).reduce((first, second) => say('dispatches.then', { first, second }))
}

function ProgressWords({ dispatch }: { dispatch: Listed }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { span } = useFigures()
  const total = totalOf(dispatch)
  const { status, startedAt, completedAt } = dispatch
  const words =
    status === 'CREATED'
      ? say('dispatches.recipients', { count: total })
      : status === 'COMPLETED' && startedAt && completedAt
        ? say('dispatches.took', { total: number(total), time: span(secondsBetween(startedAt, completedAt)) })
        : say('dispatches.handed', { handed: number(handedOf(dispatch)), total: number(total) })
  return <span className={styles.words}>{words}</span>
}

const secondsBetween = (from: string, to: string) => (new Date(to).getTime() - new Date(from).getTime()) / 1000
