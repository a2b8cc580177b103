import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useFormats } from '../../format.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { BoneRows } from '../../parts/lists/bones.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { ErrorState } from '../../parts/pages/error-state.tsx'
import { usePageTitle } from '../../parts/pages/page-head.tsx'
import { numberFormat, zoneOfReader } from '../../words/intl.ts'
import { useWords } from '../../words/words.ts'
import { MessageStatus } from '../message-status.tsx'
import { type Life, lifeQuery, type Step, useChosenCompany } from '../messages.ts'
import { groupedNumber, kindOfStatus, type StatusName } from '../names.ts'
import { Details } from './details.tsx'
import { LifeLine } from './life-line.tsx'
import styles from './message.module.css'
import { MoneyOfMessage } from './money.tsx'
import { SendAgain } from './send-again.tsx'
import { Bubble } from './texts.tsx'

const FRESH_MS = 5000

/** All events of one message. Until its status is final, the page asks again every few seconds. */
export function MessagePage() {
  const { uuid } = useParams({ from: '/shell/messages/$uuid' })
  const { data, error, refetch } = useQuery({
    ...lifeQuery(uuid, useChosenCompany()),
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? FRESH_MS : false),
  })
  if (data) return <WholeLife life={data} />
  return error ? <ErrorState level={1} error={error} onRetry={refetch} /> : <BoneRows rows={6} />
}

const isOpen = ({ steps }: Life) => steps.some(({ status }) => status === 'sending' || status === 'sent')

function WholeLife({ life }: { life: Life }) {
  const { say } = useWords()
  usePageTitle(groupedNumber(life.destination))
  const isCascade = life.steps.length > 1
  return (
    <>
      <Head life={life} />
      {isCascade && <Route steps={life.steps} />}
      <div className={styles.columns}>
        <section aria-labelledby="life">
          <div className={styles.section}>
            <h2 id="life">{say('message.life')}</h2>
            <span className="note">{say('message.zone', { zone: zoneOfReader() })}</span>
          </div>
          {life.steps.map((step, place) => (
            <div key={step.uuid}>
              {isCascade && <Leg step={step} place={place + 1} />}
              <LifeLine life={life} step={step} />
              <Unknown step={step} />
            </div>
          ))}
        </section>
        <div>
          <section>
            <h2>{say(isCascade ? 'message.textsAsSent' : 'message.textAsSent')}</h2>
            {life.steps.map((step, place) => (
              <TextOfStep key={step.uuid} step={step} place={isCascade ? place + 1 : undefined} />
            ))}
            {life.trafficType === 'AUTHORIZE' && <p className="note small">{say('message.masked')}</p>}
          </section>
          {life.steps[0]?.money && (
            <section>
              <h2>{say('message.money')}</h2>
              <MoneyOfMessage life={life} />
            </section>
          )}
          <section>
            <h2>{say('message.details')}</h2>
            <Details life={life} />
          </section>
        </div>
      </div>
    </>
  )
}

function Head({ life }: { life: Life }) {
  const { say } = useWords()
  const { channel, operator } = useTrafficNames()
  const clipboard = useClipboard()
  const took = useDuration(life.acceptedAt, life.statusAt)
  const channels = life.steps.map(({ channelType }) => channel(channelType)).join(' → ')
  const isFinal = life.status !== 'sending' && life.status !== 'sent'
  return (
    <div className={styles.head}>
      <div>
        <Link className={`link ${styles.back}`} to="/messages">
          <Icon name="back" size={14} />
          {say('message.back')}
        </Link>
        <div className={styles.title}>
          <h1>{groupedNumber(life.destination)}</h1>
          <MessageStatus status={life.status} isPill />
        </div>
        <p className="note">
          {say('message.from', { channel: channels, sender: life.senderName ?? '–' })} · {operator(life.operator)}
          {isFinal && took !== '' && ` · ${say('message.took', { time: took })}`}
        </p>
      </div>
      <div className={styles.acts}>
        <SendAgain life={life} />
        <Button
          leftSection={<Icon name={clipboard.copied ? 'check' : 'copy'} />}
          onClick={() => clipboard.copy(window.location.href)}
        >
          {clipboard.copied ? say('app.copied') : say('message.copyLink')}
        </Button>
        <Button renderRoot={props => <Link to="/messages" search={{ q: `+${life.destination}` }} {...props} />}>
          {say('message.sameNumber')}
        </Button>
      </div>
    </div>
  )
}

/** A duration in its two largest units. */
function useDuration(from: string, to: string): string {
  const { language } = useWords()
  const ms = Math.max(0, Date.parse(to) - Date.parse(from))
  const seconds = ms / 1000
  const format = (value: number, unit: string) =>
    numberFormat(language, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 })(value)
  if (seconds < 60) return format(Math.round(seconds * 10) / 10, 'second')
  if (seconds < 3600)
    return `${format(Math.floor(seconds / 60), 'minute')} ${format(Math.floor(seconds % 60), 'second')}`
  return `${format(Math.floor(seconds / 3600), 'hour')} ${format(Math.floor((seconds % 3600) / 60), 'minute')}`
}

/** The steps of a cascade side by side. */
function Route({ steps }: { steps: Step[] }) {
  const { say } = useWords()
  const { money } = useFormats()
  const { channel } = useTrafficNames()
  return (
    <ol className={styles.route} aria-label={say('message.steps')}>
      {steps.map(({ uuid, status, channelType, money: amounts, currency }, place) => (
        <li key={uuid} className={styles[kindOfStatus[status as StatusName]] ?? ''}>
          <b>
            {place + 1} {channel(channelType)}
          </b>
          <MessageStatus status={status} />
          {amounts && <span className={styles.amount}>{money(amounts.charged, currency)}</span>}
        </li>
      ))}
    </ol>
  )
}

function Leg({ step, place }: { step: Step; place: number }) {
  const { channel } = useTrafficNames()
  return (
    <h3 className={styles.leg}>
      <i>{place}</i>
      {channel(step.channelType)}
      <MessageStatus status={step.status} />
    </h3>
  )
}

/** Says which events are missing above, because they are not stored or not found. */
function Unknown({ step: { callbacks, status } }: { step: Step }) {
  const { say } = useWords()
  const notes = [
    ...(callbacks === 'none asked' ? [say('message.callbacks.none')] : []),
    ...(callbacks === 'unread' ? [say('message.callbacks.unread')] : []),
    ...(status === 'delivered' || status === 'undelivered' ? [say('message.late')] : []),
  ]
  return notes.length > 0 ? <p className={`note small ${styles.unknown}`}>{notes.join(' ')}</p> : null
}

function TextOfStep({ step, place }: { step: Step; place: number | undefined }) {
  const { channel } = useTrafficNames()
  return (
    <>
      {place !== undefined && (
        <p className={styles.from}>
          {place} {channel(step.channelType)}
        </p>
      )}
      <Bubble text={step.text} />
    </>
  )
}
