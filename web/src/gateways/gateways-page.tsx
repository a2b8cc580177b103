import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { Icon } from '../parts/content/icon.tsx'
import { BoneRows } from '../parts/lists/bones.tsx'
import type { Column } from '../parts/lists/columns.ts'
import { Cell, ListTable } from '../parts/lists/list-table.tsx'
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
  const number = table.number
  const columns: Column<Gateway>[] = [
    { id: 'name', head: say('gateways.gateway'), card: table.title, isKept: true, by: ({ name }) => name },
    {
      id: 'state',
      head: say('gateways.state'),
      card: table.corner,
      by: ({ standing }) => say(`gateway.standing.${standing}`),
    },
    {
      id: 'rate',
      head: say('gateways.rate'),
      className: styles.rateColumn,
      card: styles.rateCell,
      by: ({ rate }) => rate,
    },
    { id: 'window', head: say('gateways.window'), className: number, by: ({ open }) => open },
    { id: 'waiting', head: say('gateways.waiting'), className: number, by: ({ waiting }) => waiting },
    { id: 'outstanding', head: say('gateways.outstanding'), className: number, by: gateway => gateway.outstanding },
    { id: 'answer', head: say('gateways.answer'), className: number, by: ({ answerMs }) => answerMs },
    { id: 'errors', head: say('gateways.errors'), className: number, by: ({ errorsLastHour }) => errorsLastHour },
    { id: 'hour', head: say('gateways.hour'), className: number, card: styles.sparkCell },
  ]
  return (
    <ListTable name="gateways" className={`${table.table} ${styles.list}`} columns={columns} rows={gateways} canChoose>
      {gateway => <GatewayRow key={gateway.gatewayId} gateway={gateway} at={at} />}
    </ListTable>
  )
}

function GatewayRow({ gateway, at }: { gateway: Gateway; at: string }) {
  const { say } = useWords()
  const { number } = useFormats()
  const about = useAboutGateway()
  const { gatewayId, name, standing, open, window, waiting, outstanding, answerMs, errorsLastHour } = gateway
  return (
    <tr>
      <Cell of="name">
        <Link to="/gateways/$gatewayId" params={{ gatewayId }} className={table.main}>
          {name}
        </Link>
        <span className={table.sub}>{about(gateway)}</span>
      </Cell>
      <Cell of="state">
        <StandingStatus standing={standing} />
      </Cell>
      <Cell of="rate">
        <RateBar gateway={gateway} />
      </Cell>
      <Cell of="window">
        {window === 0 ? (
          <span className={table.dim}>–</span>
        ) : (
          say('gateways.of', { used: number(open), all: number(window) })
        )}
      </Cell>
      <Cell of="waiting">{number(waiting)}</Cell>
      <Cell of="outstanding">
        <span title={say('gateway.outstanding.why')}>{outstanding > 0 ? `≈ ${number(outstanding)}` : number(0)}</span>
      </Cell>
      <Cell of="answer">
        {answerMs === null ? <span className={table.dim}>–</span> : say('gateways.ms', { ms: number(answerMs) })}
      </Cell>
      <Cell of="errors">
        <span className={errorsLastHour > 0 ? styles.warn : ''}>{number(errorsLastHour)}</span>
      </Cell>
      <Cell of="hour">
        <Spark hour={gateway.hour} at={at} standing={standing} />
      </Cell>
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
