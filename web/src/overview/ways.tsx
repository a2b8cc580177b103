import { useFormats } from '../format.ts'
import { Status } from '../parts/content/status.tsx'
import figures from '../parts/lists/figure-table.module.css'
import table from '../parts/lists/table.module.css'
import { useTrafficNames } from '../parts/names/traffic-names.ts'
import { useWords } from '../words/words.ts'
import { useClock } from './clock.ts'
import styles from './overview.module.css'
import type { Overview } from './overview.ts'

type Way = Pick<Overview['channels'][number], 'sent' | 'failed' | 'share' | 'usualShare'>

export function Operators({ overview: { operators, zone } }: { overview: Overview }) {
  const { say } = useWords()
  const { operator } = useTrafficNames()
  const rows = operators.map(({ brand, ...way }) => ({ name: operator(brand), way }))
  const heads = {
    title: say('overview.operators'),
    note: say('overview.operators.note'),
    first: say('overview.operator'),
  }
  return <Ways {...heads} none={say('overview.operators.none')} rows={rows} zone={zone} />
}

export function Channels({ overview: { channels, zone } }: { overview: Overview }) {
  const { say } = useWords()
  const { channel } = useTrafficNames()
  const rows = channels.map(({ channelType, ...way }) => ({ name: channel(channelType), way }))
  const heads = { title: say('overview.channels'), note: say('overview.channels.note'), first: say('overview.channel') }
  return <Ways {...heads} none={say('overview.channels.none')} rows={rows} zone={zone} />
}

type Props = {
  title: string
  note: string
  first: string
  none: string
  rows: { name: string; way: Way }[]
  zone: string
}

function Ways({ title, note, first, none, rows, zone }: Props) {
  const { say } = useWords()
  return (
    <section>
      <div className={styles.head}>
        <h2>{title}</h2>
        <span className="note">{rows.length > 0 && note}</span>
      </div>
      {rows.length === 0 ? (
        <p className="note">{none}</p>
      ) : (
        <table className={`${figures.table} ${styles.ways}`}>
          <thead>
            <tr>
              <th>{first}</th>
              <th>{say('overview.way.sent')}</th>
              <th>{say('overview.way.failed')}</th>
              <th>{say('overview.way.delivered')}</th>
              <th>{say('overview.way.usually')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, way }) => (
              <WayRow key={name} name={name} way={way} zone={zone} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function WayRow({ name, way, zone }: { name: string; way: Way; zone: string }) {
  const { number } = useFormats()
  const { share } = useClock(zone)
  return (
    <tr>
      <td className={table.main}>{name}</td>
      <td>{number(way.sent)}</td>
      <td>{number(way.failed)}</td>
      <td>
        <Delivered way={way} zone={zone} />
      </td>
      <td className={styles.soft}>{way.usualShare === null ? '–' : share(way.usualShare)}</td>
    </tr>
  )
}

/** A warning appears if the delivered share is lower than usual by this much, and enough messages were sent. */
const FEWER = 0.02
const ENOUGH = 50

function Delivered({ way, zone }: { way: Way; zone: string }) {
  const { say } = useWords()
  const { share } = useClock(zone)
  if (way.share === null) return '–'
  const isBelow = way.usualShare !== null && way.share < way.usualShare - FEWER && way.sent >= ENOUGH
  if (!isBelow) return share(way.share)
  return (
    <span title={say('overview.way.below', { share: share(way.share) })}>
      <Status kind="warn">{share(way.share)}</Status>
    </span>
  )
}
