import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import table from '../parts/lists/table.module.css'
import { Blank } from '../parts/pages/blank.tsx'
import { ErrorState } from '../parts/pages/error-state.tsx'
import { PageHead } from '../parts/pages/page-head.tsx'
import { useMe } from '../session.ts'
import { useWords } from '../words/words.ts'
import { useAboutGateway } from './about.ts'
import styles from './gateways.module.css'
import { type Gateway, gatewaysQuery } from './gateways.ts'
import { Spark } from './minutes.tsx'
import { StandingStatus } from './standing.tsx'

/** All gateways with their states, refreshed every few seconds. */
export function GatewaysPage() {
  const { say } = useWords()
  const { data, error, refetch } = useQuery(gatewaysQuery)
  return (
    <>
      <PageHead
        title={say('gateways.title')}
        note={data ? <Counts gateways={data.gateways} /> : ' '}
        actions={<AddButton isShown={data === undefined || data.gateways.length > 0} />}
      />
      {data?.gateways.length === 0 ? (
        <Blank drawing="bird" title={say('gateways.none')} text={say('gateways.none.text')}>
          <AddButton isShown />
        </Blank>
      ) : data ? (
        <GatewaysTable gateways={data.gateways} at={data.at} />
      ) : error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : (
        <BoneRows rows={6} />
      )}
    </>
  )
}

function AddButton({ isShown }: { isShown: boolean }) {
  const { say } = useWords()
  const { rights } = useMe()
  if (!isShown || !rights.includes('gateways.change')) return null
  return (
    <Button component={Link} to="/gateways/new" variant="filled" leftSection={<Icon name="plus" />}>
      {say('gateways.add')}
    </Button>
  )
}

const standings = ['up', 'throttled', 'down', 'unknown', 'draining', 'paused', 'drained'] as const

function Counts({ gateways }: { gateways: Gateway[] }) {
  const { say } = useWords()
  const counts = standings.flatMap(standing => {
    const count = gateways.filter(gateway => gateway.standing === standing).length
    return count > 0 ? [say(`gateways.count.${standing}`, { count })] : []
  })
  return (
    <>
      {counts.join(', ')} {counts.length > 0 && <span className={styles.live}>{say('gateways.live')}</span>}
    </>
  )
}

function GatewaysTable({ gateways, at }: { gateways: Gateway[]; at: string }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.list}`}>
      <thead>
        <tr>
          <th>{say('gateways.gateway')}</th>
          <th>{say('gateways.state')}</th>
          <th className={styles.rateColumn}>{say('gateways.rate')}</th>
          <th className={table.number}>{say('gateways.window')}</th>
          <th className={table.number}>{say('gateways.waiting')}</th>
          <th className={table.number}>{say('gateways.outstanding')}</th>
          <th className={table.number}>{say('gateways.answer')}</th>
          <th className={table.number}>{say('gateways.errors')}</th>
          <th className={`${table.number} ${styles.sparkCell}`}>{say('gateways.hour')}</th>
        </tr>
      </thead>
      <tbody>
        {gateways.map(gateway => (
          <GatewayRow key={gateway.gatewayId} gateway={gateway} at={at} />
        ))}
      </tbody>
    </table>
  )
}

function GatewayRow({ gateway, at }: { gateway: Gateway; at: string }) {
  const { say } = useWords()
  const { number } = useFormats()
  const about = useAboutGateway()
  const { gatewayId, name, standing, open, window, waiting, outstanding, answerMs, errorsLastHour } = gateway
  return (
    <tr>
      <td className={table.title}>
        <Link to="/gateways/$gatewayId" params={{ gatewayId }} className={table.main}>
          {name}
        </Link>
        <span className={table.sub}>{about(gateway)}</span>
      </td>
      <td className={table.corner}>
        <StandingStatus standing={standing} />
      </td>
      <td className={styles.rateCell}>
        <RateBar gateway={gateway} />
      </td>
      <td className={table.number} data-label={say('gateways.window')}>
        {window === 0 ? (
          <span className={table.dim}>–</span>
        ) : (
          say('gateways.of', { used: number(open), all: number(window) })
        )}
      </td>
      <td className={table.number} data-label={say('gateways.waiting')}>
        {number(waiting)}
      </td>
      <td className={table.number} data-label={say('gateways.outstanding')}>
        <span title={say('gateway.outstanding.why')}>{outstanding > 0 ? `≈ ${number(outstanding)}` : number(0)}</span>
      </td>
      <td className={table.number} data-label={say('gateways.answer')}>
        {answerMs === null ? <span className={table.dim}>–</span> : say('gateways.ms', { ms: number(answerMs) })}
      </td>
      <td className={table.number} data-label={say('gateways.errors')}>
        <span className={errorsLastHour > 0 ? styles.warn : ''}>{number(errorsLastHour)}</span>
      </td>
      <td className={`${table.number} ${styles.sparkCell}`}>
        <Spark hour={gateway.hour} at={at} standing={standing} />
      </td>
    </tr>
  )
}

/** Without a rate limit there is no share to draw, so only the number is shown. */
export function RateBar({ gateway: { rate, rateLimit, standing } }: { gateway: Gateway }) {
  const { say } = useWords()
  const { number } = useFormats()
  const now = number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate))
  if (rateLimit === null) return <span className={styles.rateWords}>{say('gateways.noLimit', { rate: now })}</span>
  const width = `${Math.min(100, (100 * rate) / rateLimit)}%`
  return (
    <>
      <div className={styles.bar} aria-hidden="true">
        <i className={standing === 'throttled' ? styles.full : ''} style={{ width }} />
      </div>
      <span className={styles.rateWords}>{say('gateways.of', { used: now, all: number(rateLimit) })}</span>
    </>
  )
}
