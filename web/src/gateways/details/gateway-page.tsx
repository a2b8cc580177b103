import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats } from '../../format.ts'
import columns from '../../parts/content/columns.module.css'
import { Icon } from '../../parts/content/icon.tsx'
import { Pair, Pairs } from '../../parts/content/pairs.tsx'
import { Section } from '../../parts/content/section.tsx'
import { Status } from '../../parts/content/status.tsx'
import { ButtonMenu } from '../../parts/dialogs/button-menu.tsx'
import { CopyField } from '../../parts/forms/copy-field.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { PageHead } from '../../parts/pages/page-head.tsx'
import { useMe } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { useAboutGateway, useConnectorName, useOperatorNames } from '../about.ts'
import styles from '../gateways.module.css'
import { type GatewayDetails, gatewayQuery } from '../gateways.ts'
import { RateBar } from '../gateways-page.tsx'
import { HourChart } from '../minutes.tsx'
import { StandingStatus } from '../standing.tsx'
import { ErrorTable } from './error-table.tsx'
import { GatewayDialog, type GatewayTask } from './gateway-dialogs.tsx'
import { LateReceipts } from './late-receipts.tsx'
import { Why } from './why.tsx'

/** One gateway: its present state, the last hour, and its actions. */
export function GatewayPage() {
  const { gatewayId } = useParams({ from: '/shell/gateways/$gatewayId' })
  const { data, error, refetch } = useQuery(gatewayQuery(gatewayId))
  if (data) return <Shown gateway={data} />
  return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
}

function Shown({ gateway }: { gateway: GatewayDetails }) {
  const { say } = useWords()
  const about = useAboutGateway()
  const mayChange = useMe().rights.includes('gateways.change')
  const [task, setTask] = useState<GatewayTask>()
  return (
    <>
      <PageHead
        title={gateway.name}
        note={
          <span className={styles.title}>
            <StandingStatus standing={gateway.standing} isPill />
            {about(gateway)}
          </span>
        }
        actions={mayChange && <Actions gateway={gateway} onTask={setTask} />}
      />
      <Why gateway={gateway} />
      <Figures gateway={gateway} />
      <div className={columns.columns}>
        <div>
          <Section title={say('gateway.hour')} note={say('gateway.hour.note')}>
            <HourChart hour={gateway.hour} at={gateway.at} />
          </Section>
          <Section title={say('gateway.errors')}>
            <ErrorTable errors={gateway.errors} />
          </Section>
          <LateReceipts late={gateway.late} />
        </div>
        <div className={columns.aside}>
          <Section title={say('gateway.engines')}>
            <Engines gateway={gateway} />
          </Section>
          <Section title={say('gateway.about')}>
            <About gateway={gateway} />
          </Section>
        </div>
      </div>
      {task && <GatewayDialog task={task} gateway={gateway} onClose={() => setTask(undefined)} />}
    </>
  )
}

function Actions({ gateway, onTask }: { gateway: GatewayDetails; onTask(task: GatewayTask): void }) {
  const { say } = useWords()
  const isPaused = ['paused', 'draining', 'drained'].includes(gateway.standing)
  return (
    <>
      <Button leftSection={<Icon name="sent" />} onClick={() => onTask('test')}>
        {say('gateway.test')}
      </Button>
      {isPaused ? (
        <Button leftSection={<Icon name="play" />} onClick={() => onTask('resume')}>
          {say('gateway.resume')}
        </Button>
      ) : (
        <Button leftSection={<Icon name="pause" />} onClick={() => onTask('pause')}>
          {say('gateway.pause')}
        </Button>
      )}
      <ButtonMenu
        position="bottom-end"
        width={224}
        button={<Button rightSection={<Icon name="down" />}>{say('app.more')}</Button>}
      >
        <Menu.Item
          renderRoot={props => (
            <Link {...props} to="/gateways/$gatewayId/settings" params={{ gatewayId: gateway.gatewayId }} />
          )}
          leftSection={<Icon name="key" />}
        >
          {say('gateway.settings')}
        </Menu.Item>
        {gateway.standing !== 'draining' && (
          <Menu.Item leftSection={<Icon name="wait" />} onClick={() => onTask('drain')}>
            {say('gateway.drain')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Icon name="cross" />} onClick={() => onTask('remove')}>
          {say('gateway.remove')}
        </Menu.Item>
      </ButtonMenu>
    </>
  )
}

function Figures({ gateway }: { gateway: GatewayDetails }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { rate, open, window, waiting, stuck, outstanding, endedLastMinute } = gateway
  const figure = (value: number) => number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
  return (
    <>
      <dl className={styles.figures}>
        <div>
          <dt>{say('gateway.rate')}</dt>
          <dd>
            <b>{figure(rate)}</b>
            <RateBar gateway={gateway} />
          </dd>
        </div>
        <div>
          <dt>{say('gateway.window')}</dt>
          <dd>
            <b>{number(open)}</b>
            {window === 0 ? say('gateway.window.none') : say('gateway.window.of', { count: window })}
          </dd>
        </div>
        <div>
          <dt>{say('gateway.waiting')}</dt>
          <dd>
            <b>{number(waiting)}</b>
            {waiting === 0
              ? say('gateway.waiting.none')
              : stuck === 0
                ? say('gateway.waiting.others')
                : say('gateway.waiting.stuck', { count: stuck })}
          </dd>
        </div>
        <div>
          <dt>{say('gateway.outstanding')}</dt>
          <dd>
            <b>≈ {number(outstanding)}</b>
            {say('gateway.outstanding.note', { count: endedLastMinute })}
          </dd>
        </div>
      </dl>
      <p className={`note ${styles.estimate}`}>{say('gateway.outstanding.why')}</p>
    </>
  )
}

function Engines({ gateway: { engines } }: { gateway: GatewayDetails }) {
  const { say } = useWords()
  const { number } = useFormats()
  if (engines.length === 0) return <p className="note">{say('gateway.engines.none')}</p>
  return (
    <ul className={styles.engines}>
      {engines.map(({ worker, up, host, pid, bound, wanted, open, window }) => (
        <li key={worker}>
          <Status kind={up ? 'ok' : 'fail'}>{say(up ? 'gateway.engine.up' : 'gateway.engine.down')}</Status>
          <span>{host ? `${host}, ${pid}` : worker.slice(0, 8)}</span>
          <span>
            {wanted > 0
              ? say('gateway.engine.binds', { bound: number(bound), wanted: number(wanted) })
              : say('gateway.engine.open', { open: number(open), window: number(window) })}
          </span>
        </li>
      ))}
    </ul>
  )
}

function About({ gateway }: { gateway: GatewayDetails }) {
  const { say } = useWords()
  const { number } = useFormats()
  const connectorName = useConnectorName()
  const operators = useOperatorNames()
  const { connector, brands, rateLimit, answerMs, companies, webhook, gatewayId } = gateway
  return (
    <>
      <Pairs>
        <Pair name={say('gateway.id')}>{gatewayId}</Pair>
        <Pair name={say('gateway.connector')}>{connectorName(connector)}</Pair>
        <Pair name={say('gateway.operators')}>{operators(brands)}</Pair>
        <Pair name={say('gateway.limit')}>
          {rateLimit === null ? say('gateway.limit.none') : say('gateway.limit.parts', { rate: number(rateLimit) })}
        </Pair>
        <Pair name={say('gateway.answer')}>
          {answerMs === null ? '–' : say('gateways.ms', { ms: number(answerMs) })}
        </Pair>
        {companies.length > 0 && (
          <Pair name={say('gateway.companies')}>{companies.map(({ name }) => name).join(', ')}</Pair>
        )}
      </Pairs>
      {webhook && <CopyField label={say('gateway.webhook')} value={webhook} />}
    </>
  )
}
