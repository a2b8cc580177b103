import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useFormats } from '../format.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { useWords } from '../words/words.ts'
import styles from './dispatch-page.module.css'
import { handedOf, totalOf, type Whole } from './dispatches.ts'
import { useFigures } from './figures.ts'
import { ProgressBar } from './progress-bar.tsx'

/** How far it is, how fast, and when it will be done. */
export function DispatchProgress({ dispatch, isLive }: { dispatch: Whole; isLive: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const handed = handedOf(dispatch)
  const speed = useSpeed(handed, dispatch.status === 'STARTED' && dispatch.waiting > 0)
  return (
    <section>
      <div className={styles.hero}>
        <div>
          <span className={styles.big}>{number(handed)}</span>{' '}
          <span className={styles.soft}>{say('dispatch.handed', { total: number(totalOf(dispatch)) })}</span>
        </div>
        <Pace dispatch={dispatch} speed={speed} isLive={isLive} />
      </div>
      <ProgressBar counts={dispatch} isThick />
      <Figures dispatch={dispatch} speed={speed} />
    </section>
  )
}

type Speed = number | undefined

function Pace({ dispatch, speed, isLive }: { dispatch: Whole; speed: Speed; isLive: boolean }) {
  const { say } = useWords()
  const { number } = useFormats()
  const { clock } = useFigures()
  if (dispatch.status === 'COMPLETED') return null
  const endsAt = speed ? new Date(Date.now() + (dispatch.waiting / speed) * 1000) : undefined
  return (
    <div className={styles.pace}>
      {speed !== undefined && <span>{say('dispatch.speed', { speed: number(rounded(speed)) })}</span>}
      {endsAt && <span>{say('dispatch.ends', { time: clock(endsAt) })}</span>}
      <span className={isLive ? styles.live : styles.connecting}>
        {say(isLive ? 'dispatch.live' : 'dispatch.connecting')}
      </span>
    </div>
  )
}

const rounded = (speed: number) => (speed >= 10 ? Math.round(speed) : Math.round(speed * 10) / 10)

function Figures({ dispatch, speed }: { dispatch: Whole; speed: Speed }) {
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
        <WaitingNote dispatch={dispatch} speed={speed} />
      </Figure>
    </dl>
  )
}

function WaitingNote({ dispatch: { waiting, status, isEnded }, speed }: { dispatch: Whole; speed: Speed }) {
  const { say } = useWords()
  const { span } = useFigures()
  if (waiting === 0) return say('dispatch.waiting.none')
  if (status === 'CREATED') return say('dispatch.waiting.created')
  if (isEnded) return say('dispatch.waiting.ended')
  if (status === 'STOPPED') return say('dispatch.waiting.stopped')
  return speed ? say('dispatch.waiting.note', { time: span(waiting / speed) }) : say('dispatch.waiting.some')
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

const WINDOW_SECONDS = 10

/** Messages a second over the last ten seconds, measured by this page; nothing until it has watched for a while. */
function useSpeed(handed: number, isRunning: boolean): Speed {
  const latest = useRef(handed)
  latest.current = handed
  const [speed, setSpeed] = useState<Speed>()
  useEffect(() => {
    if (!isRunning) return setSpeed(undefined)
    const samples: { at: number; handed: number }[] = []
    const measure = () => {
      const now = { at: performance.now(), handed: latest.current }
      samples.push(now)
      if (samples.length > WINDOW_SECONDS + 1) samples.shift()
      const [first] = samples
      if (samples.length > 2) setSpeed((now.handed - first!.handed) / ((now.at - first!.at) / 1000))
    }
    measure()
    const timer = setInterval(measure, 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  return speed
}
