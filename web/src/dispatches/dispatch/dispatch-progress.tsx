import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormats } from '../../format.ts'
import { Icon, type IconName } from '../../parts/content/icon.tsx'
import { useWords } from '../../words/words.ts'
import { handedOf, totalOf, type Whole } from '../dispatches.ts'
import { useFigures } from '../figures.ts'
import { ProgressBar } from '../progress-bar.tsx'
import styles from './dispatch-page.module.css'
import type { Speed } from './speed.ts'

type Props = { dispatch: Whole; speed: Speed /** The estimated end. */; endsAt: Date | undefined }

/** The progress, the speed and the estimated end. */
export function DispatchProgress({ dispatch, isLive, ...course }: Props & { isLive: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const handed = handedOf(dispatch)
  return (
    <section>
      <div className={styles.hero}>
        <div>
          <span className={styles.big}>{number(handed)}</span>{' '}
          <span className={styles.soft}>{say('dispatch.handed', { total: number(totalOf(dispatch)) })}</span>{' '}
          <Link to="/messages" search={{ dispatch: dispatch.dispatchId }} className={`link ${styles.all}`}>
            {say('dispatch.messages')}
          </Link>
        </div>
        <Pace dispatch={dispatch} {...course} isLive={isLive} />
      </div>
      <ProgressBar counts={dispatch} isThick />
      <Figures dispatch={dispatch} {...course} />
    </section>
  )
}

function Pace({ dispatch, speed, endsAt, isLive }: Props & { isLive: boolean }) {
  const { say } = useWords()
  const { number, moment } = useFormats()
  const { clock } = useFigures()
  if (dispatch.status === 'COMPLETED') return null
  return (
    <div className={styles.pace}>
      {speed !== undefined && <span>{say('dispatch.speed', { speed: number(rounded(speed)) })}</span>}
      {endsAt && <span>{say('dispatch.ends', { time: isToday(endsAt) ? clock(endsAt) : moment(endsAt) })}</span>}
      <span className={isLive ? styles.live : styles.connecting}>
        {say(isLive ? 'dispatch.live' : 'dispatch.connecting')}
      </span>
    </div>
  )
}

const isToday = (moment: Date) => moment.toDateString() === new Date().toDateString()
const rounded = (speed: number) => (speed >= 10 ? Math.round(speed) : Math.round(speed * 10) / 10)

function Figures({ dispatch, ...course }: Props) {
  const { say } = useWords()
  const { number } = useFormats()
  const { share } = useFigures()
  const { delivered, sent, failed, unsent, waiting } = dispatch
  const finished = delivered + failed
  return (
    <dl className={styles.figures}>
      <Figure look="ok" icon="ok" name={say('dispatch.delivered')} value={number(delivered)}>
        {finished > 0
          ? say('dispatch.delivered.note', { share: share(delivered, finished) })
          : say('dispatch.delivered.none')}
      </Figure>
      <Figure look="sent" icon="sent" name={say('dispatch.sent')} value={number(sent)}>
        {say('dispatch.sent.note')}
      </Figure>
      <Figure look="fail" icon="fail" name={say('dispatch.failed')} value={number(failed)}>
        {say('dispatch.failed.note', { undelivered: failed - unsent, unsent })}
      </Figure>
      <Figure look="wait" icon="wait" name={say('dispatch.waiting')} value={number(waiting)}>
        <WaitingNote dispatch={dispatch} {...course} />
      </Figure>
    </dl>
  )
}

/** Whether the end is later than by speed alone, because of hours without sending. */
const PAUSE_SECONDS = 600

function WaitingNote({ dispatch: { waiting, status, isEnded }, speed, endsAt }: Props) {
  const { say } = useWords()
  const { span } = useFigures()
  if (waiting === 0) return say('dispatch.waiting.none')
  if (status === 'CREATED') return say('dispatch.waiting.created')
  if (isEnded) return say('dispatch.waiting.ended')
  if (status === 'STOPPED') return say('dispatch.waiting.stopped')
  if (!endsAt) return say('dispatch.waiting.some')
  const seconds = (endsAt.getTime() - Date.now()) / 1000
  const hasPauses = !speed || seconds > waiting / speed + PAUSE_SECONDS
  return say(hasPauses ? 'dispatch.waiting.hours' : 'dispatch.waiting.note', { time: span(seconds) })
}

type FigureProps = {
  look: 'ok' | 'sent' | 'fail' | 'wait'
  icon: IconName
  name: string
  value: string
  children: ReactNode
}

const Figure = ({ look, icon, name, value, children }: FigureProps) => (
  <div>
    <dt className={styles[look]}>
      <Icon name={icon} size={15} />
      {name}
    </dt>
    <dd className={styles.value}>{value}</dd>
    <dd className={styles.about}>{children}</dd>
  </div>
)
