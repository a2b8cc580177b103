import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useFormats } from '../../format.ts'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { usePageTitle } from '../../parts/pages/page-head.tsx'
import { queryClient } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { DispatchState } from '../dispatch-status.tsx'
import { breakdownQuery, DISPATCHES, dispatchQuery, type Whole } from '../dispatches.ts'
import { useChannels } from '../list/dispatch-table.tsx'
import { useLive } from '../live.ts'
import { DispatchActions } from './dispatch-actions.tsx'
import { DispatchBreakdown } from './dispatch-breakdown.tsx'
import styles from './dispatch-page.module.css'
import { DispatchProgress } from './dispatch-progress.tsx'
import { DispatchMoney, DispatchSide } from './dispatch-side.tsx'
import { DispatchWaits } from './dispatch-waits.tsx'
import { endOf, usePace, useSpeed } from './speed.ts'
import { SpeedChart } from './speed-chart.tsx'

/** One dispatch, with figures that change live. */
export function DispatchPage() {
  const { dispatchId } = useParams({ from: '/shell/dispatches/$dispatchId' })
  const { data, error, refetch } = useQuery(dispatchQuery(dispatchId))
  if (data) return <LivePage known={data} />
  return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
}

function LivePage({ known }: { known: Whole }) {
  const { changes, isConnected } = useLive(known.status === 'COMPLETED' ? [] : [known.dispatchId])
  const dispatch = { ...known, ...changes.get(known.dispatchId) }
  useRefreshOnChange(dispatch)
  const breakdown = useQuery(breakdownQuery(dispatch.dispatchId, dispatch.status))
  const speed = useSpeed(dispatch)
  const pace = usePace(breakdown.data, dispatch)
  return (
    <>
      <DispatchHead dispatch={dispatch} />
      <DispatchProgress dispatch={dispatch} speed={speed} endsAt={endOf(dispatch, speed, pace)} isLive={isConnected} />
      <div className={styles.columns}>
        <div>
          <DispatchWaits dispatch={dispatch} />
          <SpeedChart pace={pace} isLive={dispatch.status === 'STARTED' && dispatch.waiting > 0} />
          <DispatchBreakdown breakdown={breakdown} />
        </div>
        <div>
          {breakdown.data?.money && <DispatchMoney money={breakdown.data.money} />}
          <DispatchSide dispatch={dispatch} />
        </div>
      </div>
    </>
  )
}

/** Loads the dispatch again after each change of status, because its waiting reasons and times change too. */
function useRefreshOnChange({ status }: Whole) {
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: DISPATCHES })
  }, [status])
}

function DispatchHead({ dispatch }: { dispatch: Whole }) {
  const { say } = useWords()
  const { moment } = useFormats()
  const channel = useChannels(dispatch)
  const sender = dispatch.senderNames.join(', ')
  usePageTitle(dispatch.name)
  return (
    <div className={styles.head}>
      <div className={styles.names}>
        <div className={styles.title}>
          <h1>{dispatch.name}</h1>
          <DispatchState status={dispatch.status} isPill />
        </div>
        <p className="note">
          {[
            sender === '' ? channel : say('dispatch.from', { channel, sender }),
            say('dispatch.id', { id: String(dispatch.dispatchId) }),
            dispatch.startedAt
              ? say('dispatch.started', { time: moment(dispatch.startedAt) })
              : say('dispatch.created', { time: moment(dispatch.createdAt) }),
          ].join(' · ')}
        </p>
      </div>
      <DispatchActions dispatch={dispatch} />
    </div>
  )
}
