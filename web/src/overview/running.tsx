import { endBySpeed, goesOnAt } from '../dispatches/end.ts'
import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { PageLink } from '../parts/pages/page-link.tsx'
import { useWords } from '../words/words.ts'
import { useClock } from './clock.ts'
import styles from './overview.module.css'
import { type Overview, type Running, useShowsSeveral } from './overview.ts'
import { handedOf, useSpeeds } from './speeds.ts'

type Props = { running: Overview['running']; at: string; zone: string }

/** The newest running dispatches with progress and estimated end. */
export function RunningDispatches({ running: { total, items }, at, zone }: Props) {
  const { say } = useWords()
  const speeds = useSpeeds(items, at)
  const more = total - items.length
  return (
    <section>
      <div className={styles.head}>
        <h2>{say('overview.running')}</h2>
        <div className={styles.end}>
          <PageLink to="/dispatches">{say('overview.running.all')}</PageLink>
        </div>
      </div>
      {items.length === 0 ? (
        <p className="note">{say('overview.running.none')}</p>
      ) : (
        <table className={`${table.table} ${styles.running}`}>
          <thead>
            <tr>
              <th>{say('overview.running.dispatch')}</th>
              <th className={styles.progressColumn}>{say('overview.running.progress')}</th>
              <th className={table.number}>{say('overview.running.speed')}</th>
              <th className={table.number}>{say('overview.delivered')}</th>
              <th className={table.number}>{say('overview.running.end')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map(item => (
              <RunningRow
                key={item.dispatchId}
                dispatch={item}
                speed={speeds.get(item.dispatchId)}
                at={at}
                zone={zone}
              />
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p className={`note ${styles.more}`}>{say('overview.running.more', { count: more })}</p>}
    </section>
  )
}

type RowProps = { dispatch: Running; speed: number | undefined; at: string; zone: string }

function RunningRow({ dispatch, speed, at, zone }: RowProps) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useClock(zone)
  const { delivered, failed, messageCount } = dispatch
  const results = delivered + failed
  return (
    <tr>
      <td className={table.title}>
        <PageLink
          to="/dispatches/$dispatchId"
          params={{ dispatchId: String(dispatch.dispatchId) }}
          className={table.main}
          otherwise={<span className={table.main}>{dispatch.name}</span>}
        >
          {dispatch.name}
        </PageLink>
        <About dispatch={dispatch} />
      </td>
      <td className={styles.progressCell}>
        <Bar dispatch={dispatch} />
        <span className={styles.progressNote}>
          {say('overview.running.of', { done: number(handedOf(dispatch)), total: number(messageCount) })}
        </span>
      </td>
      <td className={table.number} data-label={say('overview.running.speed')}>
        <Speed speed={dispatch.waiting === 0 ? undefined : speed} />
      </td>
      <td className={table.number} data-label={say('overview.delivered')}>
        {results === 0 ? '–' : share(delivered / results)}
      </td>
      <td className={`${table.number} ${table.corner}`}>
        <End dispatch={dispatch} speed={speed} at={at} zone={zone} />
      </td>
    </tr>
  )
}

/** Slow speeds are shown per minute, because `0 a second` would mean that nothing is sent. */
function Speed({ speed }: { speed: number | undefined }) {
  const { say } = useWords()
  const { number } = useFormats()
  if (speed === undefined) return '–'
  return speed > 0 && speed < 1
    ? say('overview.running.aMinute', { speed: number(rounded(speed * 60)) })
    : say('overview.running.aSecond', { speed: number(rounded(speed)) })
}

const rounded = (speed: number) => (speed < 10 ? Math.round(speed * 10) / 10 : Math.round(speed))

function About({ dispatch: { channels, dispatchId, company } }: { dispatch: Running }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const showsSeveral = useShowsSeveral()
  const names = channels.map(channel).reduce((first, next) => say('overview.running.then', { first, next }))
  return (
    <span className={table.sub}>
      {showsSeveral && `${company.name} · `}
      {names} · {dispatchId}
    </span>
  )
}

/** Screen readers skip the bar, because the figures beside it say the same. */
function Bar({ dispatch: { delivered, sent, failed, messageCount } }: { dispatch: Running }) {
  const width = (count: number) => ({ width: `${(100 * count) / Math.max(1, messageCount)}%` })
  return (
    <div className={styles.bar} aria-hidden="true">
      <i className={styles.delivered} style={width(delivered)} />
      <i className={styles.onTheWay} style={width(sent)} />
      <i className={styles.failed} style={width(failed)} />
    </div>
  )
}

function End({ dispatch, speed, at, zone }: RowProps) {
  const { say } = useWords()
  const { time, day, duration } = useClock(zone)
  const now = new Date(at)
  const nearTime = (moment: Date) => (moment.getTime() - now.getTime() < DAY_MS ? time(moment) : day(moment))
  if (dispatch.waiting === 0)
    return (
      <>
        <Status kind="sent">{say('overview.running.receipts')}</Status>
        <span className={table.sub}>{say('overview.running.receiptsNote')}</span>
      </>
    )
  const end = speed ? endBySpeed(dispatch, speed, now) : undefined
  if (end)
    return (
      <>
        <span className="strong">{nearTime(end)}</span>
        <span className={table.sub}>
          {say('overview.running.in', { duration: duration(end.getTime() - now.getTime()) })}
        </span>
      </>
    )
  const goesOn = goesOnAt(dispatch, now)
  return goesOn ? <span className={table.sub}>{say('overview.running.goesOn', { time: nearTime(goesOn) })}</span> : '–'
}

const DAY_MS = 86_400_000
