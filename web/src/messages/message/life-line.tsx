import type { ReactNode } from 'react'
import { useFormats } from '../../format.ts'
import { Icon, type IconName } from '../../parts/content/icon.tsx'
import { useTrafficNames } from '../../parts/names/traffic-names.ts'
import { useWords } from '../../words/words.ts'
import type { Life, Moment, Step } from '../messages.ts'
import { CallbackMoment } from './callback-moment.tsx'
import styles from './life.module.css'
import { useMomentWords } from './moment-words.ts'
import { WhatItMeans } from './what-it-means.tsx'

type Props = { life: Life; step: Step; isBrief?: boolean }

/** The events of a message, or of one cascade step, in their order. */
export function LifeLine({ life, step, isBrief = false }: Props) {
  const moments = isBrief ? step.moments.filter(({ kind }) => inBrief.has(kind)) : step.moments
  return (
    <ol className={`${styles.life} ${isBrief ? styles.brief : ''}`}>
      {moments.map((moment, place) => (
        <MomentLine key={place} life={life} step={step} moment={moment} isBrief={isBrief} />
      ))}
    </ol>
  )
}

const inBrief: ReadonlySet<Moment['kind']> = new Set([
  'accepted',
  'next step',
  'waiting',
  'sent',
  'delivered',
  'failed',
  'read',
  'late receipt',
])

const looks: Record<Moment['kind'], { icon: IconName; tone?: 'ok' | 'sent' | 'fail' | 'warn' }> = {
  accepted: { icon: 'bubble' },
  'next step': { icon: 'arrow' },
  priced: { icon: 'coin' },
  held: { icon: 'wallet' },
  waiting: { icon: 'wait', tone: 'warn' },
  sent: { icon: 'sent', tone: 'sent' },
  delivered: { icon: 'ok', tone: 'ok' },
  failed: { icon: 'fail', tone: 'fail' },
  read: { icon: 'eye', tone: 'ok' },
  'late receipt': { icon: 'wait', tone: 'warn' },
  clicked: { icon: 'click' },
  callback: { icon: 'hook' },
}

type LineProps = { life: Life; step: Step; moment: Moment; isBrief: boolean }

function MomentLine({ life, step, moment, isBrief }: LineProps) {
  const { icon, tone = '' } = looks[moment.kind]
  const wordsOf = useMomentWords(life)
  const { title, amount, note } = wordsOf(moment)
  const callback = moment.kind === 'callback' ? moment.callback : undefined
  const toneOfCallback =
    callback && (callback.status === 'DELIVERED' ? 'ok' : callback.status === 'EXPIRED' ? 'fail' : '')
  return (
    <li>
      <Clock at={moment.at} />
      <span className={`${styles.point} ${styles[toneOfCallback ?? tone] ?? ''}`}>
        <Icon name={icon} size={18} />
      </span>
      <div>
        {callback ? (
          <CallbackMoment uuid={step.uuid} callback={callback} title={title} note={note ?? ''} />
        ) : (
          <h3>
            {title} {amount && <span className={styles.amount}>{amount}</span>}
          </h3>
        )}
        {note && !callback && <p>{note}</p>}
        {moment.kind === 'sent' && <Parts moment={moment} isBrief={isBrief} />}
        {moment.kind === 'late receipt' && moment.operatorError && <Words>{moment.operatorError}</Words>}
        {moment.kind === 'failed' && <Failure moment={moment} isBrief={isBrief} />}
      </div>
    </li>
  )
}

/** The time to the millisecond, with the day unless it is today. */
function Clock({ at }: { at: string | null }) {
  const { time, date } = useFormats()
  if (at === null) return <span className={styles.clock} />
  const moment = new Date(at)
  const isToday = moment.toDateString() === new Date().toDateString()
  return (
    <time className={styles.clock} dateTime={at}>
      {time(at)}
      <small>.{String(moment.getMilliseconds()).padStart(3, '0')}</small>
      {!isToday && <small className={styles.day}>{date(at)}</small>}
    </time>
  )
}

function Parts({ moment: { parts }, isBrief }: { moment: Extract<Moment, { kind: 'sent' }>; isBrief: boolean }) {
  const { say } = useWords()
  if (typeof parts === 'string' || parts.length === 0 || isBrief) return null
  const isMany = parts.length > 1
  return (
    <Words>
      {parts.map(({ part, providerId, status }) => (
        <span key={`${part} ${providerId}`}>
          {say('message.sent.part', { part })} id {providerId}
          {isMany && `   ${say(`message.part.${status as 'SENT' | 'DELIVERED' | 'FAILED'}`)}`}
        </span>
      ))}
    </Words>
  )
}

/** The reason of a failure with advice, its code, and the operator's own text. */
function Failure({ moment, isBrief }: { moment: Extract<Moment, { kind: 'failed' }>; isBrief: boolean }) {
  const { say } = useWords()
  const { reason } = useTrafficNames()
  const { errorCode, operatorError } = moment
  const code = errorCode === null ? '' : say('message.failed.code', { code: String(errorCode) })
  if (isBrief)
    return (
      <>
        <p>{errorCode !== null && reason(errorCode)}</p>
        {operatorError && <Words>{operatorError}</Words>}
      </>
    )
  return (
    <>
      <WhatItMeans errorCode={errorCode} />
      <p>
        {code}
        {code && '. '}
        {moment.wasSent && say(operatorError ? 'message.failed.words' : 'message.failed.noWords')}
      </p>
      {operatorError && <Words>{operatorError}</Words>}
    </>
  )
}

const Words = ({ children }: { children: ReactNode }) => <code className={styles.words}>{children}</code>
