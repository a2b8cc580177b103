import { Link } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import type { Column } from '../../parts/lists/columns.ts'
import { Cell, ListTable } from '../../parts/lists/list-table.tsx'
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
  const estimate = say('dispatches.estimate', { currency: '₽' })
  const columns: Column<Listed>[] = [
    { id: 'name', head: say('dispatches.dispatch'), card: table.title, isKept: true },
    { id: 'status', head: say('dispatches.status'), card: table.corner },
    { id: 'progress', head: say('dispatches.progress'), className: styles.progress, card: styles.whole },
    { id: 'delivered', head: say('dispatches.delivered'), className: table.number },
    { id: 'failed', head: say('dispatches.failed'), className: table.number },
    ...(hasMoney ? [{ id: 'estimate', head: estimate, className: table.number }] : []),
    { id: 'start', head: say('dispatches.start'), className: table.number, card: styles.wide },
  ]
  return (
    <ListTable
      name="dispatches"
      className={`${table.table} ${styles.list}`}
      columns={columns}
      rows={dispatches}
      canChoose
    >
      {dispatch => <DispatchRow key={dispatch.dispatchId} dispatch={dispatch} hasCompany={isOfSeveral} />}
    </ListTable>
  )
}

type RowProps = { dispatch: Listed; hasCompany: boolean }

function DispatchRow({ dispatch, hasCompany }: RowProps) {
  const { number, moment } = useFormats()
  const { share, amount } = useFigures()
  const { dispatchId, delivered, failed, estimate } = dispatch
  const channels = useChannels(dispatch)
  const begins = dispatch.startedAt ?? dispatch.startAt
  return (
    <tr>
      <Cell of="name">
        <Link className={table.main} to="/dispatches/$dispatchId" params={{ dispatchId }} search={{}}>
          {dispatch.name}
        </Link>
        <span className={table.sub}>
          {[hasCompany && dispatch.companyName, channels, dispatchId].filter(Boolean).join(' · ')}
        </span>
      </Cell>
      <Cell of="status">
        <DispatchState status={dispatch.status} />
      </Cell>
      <Cell of="progress">
        {dispatch.status !== 'CREATED' && <ProgressBar counts={dispatch} />}
        <ProgressWords dispatch={dispatch} />
      </Cell>
      <Cell of="delivered">
        {delivered + failed > 0 ? share(delivered, delivered + failed) : <span className={table.dim}>–</span>}
      </Cell>
      <Cell of="failed">{number(failed)}</Cell>
      <Cell of="estimate">{estimate === null ? '' : amount(estimate)}</Cell>
      <Cell of="start">{begins ? moment(begins) : <span className={table.dim}>–</span>}</Cell>
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
