import {
  type Answer,
  type Answered,
  type Delivery,
  type Link,
  type LinkOptions,
  openLink,
  type RequestDraft,
} from './link.ts'
import { createPace } from './pace.ts'
import { status } from './protocol/status.ts'

export type SessionOptions = LinkOptions & {
  /** Most submissions under way at once. */
  window: number
  firstBackoffMs: number
  mostBackoffMs: number
  /** At the end, time for what is open. */
  drainMs: number
}

/** What happens to a bind, for the log. Reasons carry no texts and no secrets. */
export type SessionEvent = { kind: 'bound' | 'closed' | 'malformed' | 'throttled'; reason?: string }

export type SessionListener = {
  onDelivery(pdu: Delivery, answer: (status: number) => void): void
  /** There may be room again, or none any more. */
  onChange(): void
  onEvent(event: SessionEvent): void
  /** Something went wrong, in words for people: without texts and secrets too. */
  onTrouble(what: string): void
}

export type SubmitDraft = Extract<RequestDraft, { command: 'submit_sm' }>

export type SessionState = 'connecting' | 'bound' | 'waiting' | 'stopped'

export type Session = {
  /** `late` is told an answer that comes after the submission was called silent. */
  submit(draft: SubmitDraft, done: (answer: Answer) => void, late: (answer: Answered) => void): void
  /** How many more submissions it takes now. */
  room(): number
  /** How long it will surely take none: a pause, or the time until it tries to connect again. */
  idleMs(): number
  state(): { state: SessionState; open: number; window: number }
  /** When the oldest submission without an answer was sent, by `performance.now()`. */
  oldestAt(): number | undefined
  /** Bound, and nothing speaks against the other side being there. */
  isUp(): boolean
  /** Lets what is open end, within a time, unbinds and closes. Asked again, it may be in more of a hurry. */
  stop(drainMs?: number): Promise<void>
}

/** Answers that a right password would not change soon: asked seldom, for operators lock accounts. */
const REFUSED_FOR_LONG: number[] = [
  status.ESME_RBINDFAIL,
  status.ESME_RINVPASWD,
  status.ESME_RINVSYSID,
  status.ESME_RINVSYSTYP,
]
export const THROTTLED: number[] = [status.ESME_RTHROTTLED, status.ESME_RMSGQFUL]

/** A bind that is kept: connects, and connects again when the connection ends, with growing, jittered pauses. */
export function createSession(options: SessionOptions, listener: SessionListener): Session {
  const pace = createPace(options.window)
  let state: SessionState = 'connecting'
  let link: Link | undefined
  let failures = 0
  let nextTryAt = 0
  let retrying: NodeJS.Timeout | undefined
  let resuming: NodeJS.Timeout | undefined
  let ended: (() => void) | undefined
  let drainUntil = Number.POSITIVE_INFINITY
  let stopping: Promise<void> | undefined

  connect()

  function connect() {
    state = 'connecting'
    link = openLink(options, {
      onBound,
      onClosed,
      onDelivery: listener.onDelivery,
      onMalformed,
    })
  }

  function onMalformed(reason: string) {
    listener.onTrouble(`malformed: ${reason}`)
    listener.onEvent({ kind: 'malformed', reason })
  }

  function onBound() {
    failures = 0
    if (state === 'stopped') return
    state = 'bound'
    listener.onEvent({ kind: 'bound' })
    listener.onChange()
  }

  function onClosed(reason: string, bindStatus?: number) {
    link = undefined
    if (state !== 'stopped') {
      listener.onTrouble(reason)
      state = 'waiting'
      retryLater(bindStatus !== undefined && REFUSED_FOR_LONG.includes(bindStatus))
    }
    ended?.()
    listener.onEvent({ kind: 'closed', reason })
    listener.onChange()
  }

  function retryLater(isForLong: boolean) {
    const waitMs = backoffMs(isForLong ? Number.POSITIVE_INFINITY : failures, options)
    failures++
    nextTryAt = performance.now() + waitMs
    retrying = setTimeout(connect, waitMs)
  }

  function submit(draft: SubmitDraft, done: (answer: Answer) => void, late: (answer: Answered) => void) {
    const settle = (answer: Answer) => {
      if (answer.kind === 'answered') keepPace(answer.status)
      done(answer)
      listener.onChange()
    }
    link!.request(draft, settle, late)
  }

  function keepPace(code: number) {
    if (code === status.ESME_ROK) return pace.accepted()
    if (code === status.ESME_RINVBNDSTS) return link?.destroy('the other side forgot the bind')
    if (!THROTTLED.includes(code)) return
    const wasPaused = pace.pausedMs(performance.now()) > 0
    const pauseMs = pace.throttled(performance.now())
    if (wasPaused) return
    clearTimeout(resuming)
    resuming = setTimeout(listener.onChange, Math.ceil(pauseMs) + 1)
    const reason = `window ${pace.window}, pause ${Math.round(pauseMs)} ms`
    listener.onTrouble(`throttled: ${reason}`)
    listener.onEvent({ kind: 'throttled', reason })
  }

  function isUp(): boolean {
    return state === 'bound' && link !== undefined && link.isUp && !link.isInDoubt
  }

  async function stop() {
    state = 'stopped'
    clearTimeout(retrying)
    clearTimeout(resuming)
    if (!link?.isUp) return link?.destroy('stopped')
    const over = new Promise<void>(resolve => {
      ended = resolve
    })
    await drained()
    link?.unbind()
    await over
  }

  /** What is open gets its answer, and what came in is answered, as far as the time allows. */
  async function drained() {
    while (link && link.open + link.unanswered > 0 && performance.now() < drainUntil) {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }

  return {
    submit,
    stop(drainMs = options.drainMs) {
      drainUntil = Math.min(drainUntil, performance.now() + drainMs)
      stopping ??= stop()
      return stopping
    },
    room: () => (isUp() ? pace.room(link!.open, performance.now()) : 0),
    idleMs() {
      if (state === 'bound' && !link?.isInDoubt) return pace.pausedMs(performance.now())
      return state === 'waiting' ? Math.max(1, nextTryAt - performance.now()) : 1
    },
    state: () => ({
      state,
      open: link?.open ?? 0,
      window: pace.window,
    }),
    oldestAt: () => link?.oldestAt,
    isUp,
  }
}

/** The pause after so many failures: twice the last, up to the longest, and at random so that not all come at once. */
export function backoffMs(
  failures: number,
  { firstBackoffMs, mostBackoffMs }: Pick<SessionOptions, 'firstBackoffMs' | 'mostBackoffMs'>,
): number {
  return Math.min(firstBackoffMs * 2 ** failures, mostBackoffMs) * (0.5 + Math.random() / 2)
}
