import { endOfSending } from '../../../src/base/time/sending-end.ts'
import { localTimeToInstant, nextOpening, type SendingWindow } from '../../../src/base/time/sending-window.ts'
import { dateFormat } from '../words/intl.ts'
import { locales, useWords, type Words } from '../words/words.ts'
import type { Draft, When } from './draft.ts'
import { type Offer, reportOf } from './offer.ts'

const MOSCOW = 'Europe/Moscow'
const SECONDS_OF = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const
/** If the end is later than by speed alone by more than this, the text names the sending hours as the reason. */
const NOTABLE_MS = 60_000

type Estimate =
  /** The speed is unknown, so only the start is known. */
  | { kind: 'begins'; beginsAt: Date }
  | { kind: 'ends'; sendingSeconds: number; endsAt: Date; isHeldByHours: boolean }
  /** The chosen end is before the estimated end. */
  | { kind: 'cut'; endsAt: Date }
  | { kind: 'too long' }

/**
 * The estimated end of the dispatch, from its speed and its sending hours in Moscow time. Undefined without recipients.
 */
export function estimateOf(draft: Draft, offer: Offer, now = new Date()): Estimate | undefined {
  const parts = reportOf(draft)?.parts
  if (!parts) return undefined
  const window = windowOf(draft.when)
  const beginsAt = nextOpening({ ...window, endAt: null }, now)
  if (!beginsAt) return undefined
  const perSecond = speedOf(draft, offer)
  if (perSecond === undefined) return { kind: 'begins', beginsAt }
  const endsAt = endOfSending([{ messages: parts, window: { ...window, endAt: null } }], perSecond, now)
  if (!endsAt) return { kind: 'too long' }
  if (window.endAt && endsAt > window.endAt) return { kind: 'cut', endsAt }
  const sendingSeconds = parts / perSecond
  const isHeldByHours = endsAt.getTime() - startOf(window, now) > sendingSeconds * 1000 + NOTABLE_MS
  return { kind: 'ends', sendingSeconds, endsAt, isHeldByHours }
}

const startOf = ({ startAt }: SendingWindow, now: Date) => Math.max(now.getTime(), startAt?.getTime() ?? 0)

function windowOf({ startAt, endAt, hours, days }: When): SendingWindow {
  const zone = { name: MOSCOW }
  const instant = (local: string) =>
    local === '' ? null : (localTimeToInstant(`${local.replace('T', ' ')}:00`, zone) ?? null)
  return { startAt: instant(startAt), endAt: instant(endAt), hours, days, zone }
}

/** Parts per second: the lowest of the chosen rate and the limits of the company and its gateways. */
function speedOf({ when, channelType }: Draft, { speeds }: Offer): number | undefined {
  const chosen = when.rate === null ? undefined : when.rate / SECONDS_OF[when.rateTerm]
  const known = [chosen, speeds[channelType]].filter(speed => speed !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** `About 3 hours of sending; ends Tuesday 17 November at 12:40, because of the hours.` */
export function EndEstimate({ draft, offer }: { draft: Draft; offer: Offer }) {
  const words = useWords()
  const estimate = estimateOf(draft, offer)
  return estimate ? <span>{describe(words, estimate)}</span> : null
}

function describe(words: Words, estimate: Estimate): string {
  const { say, language } = words
  const at = dateFormat(locales[language], {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: MOSCOW,
  })
  if (estimate.kind === 'too long') return say('new.estimate.tooLong')
  if (estimate.kind === 'begins') {
    const isNow = estimate.beginsAt.getTime() <= Date.now()
    return isNow ? say('new.estimate.unknown') : say('new.estimate.begins', { time: at(estimate.beginsAt) })
  }
  if (estimate.kind === 'cut') return say('new.estimate.cut', { time: at(estimate.endsAt) })
  const { sendingSeconds, endsAt, isHeldByHours } = estimate
  return say(isHeldByHours ? 'new.estimate.endsByHours' : 'new.estimate.ends', {
    duration: durationOf(words, sendingSeconds),
    time: at(endsAt),
  })
}

function durationOf({ say }: Words, seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  if (minutes < 120) return say('new.when.minutes', { count: minutes })
  if (minutes < 48 * 60) return say('new.when.hoursLong', { count: Math.ceil(minutes / 60) })
  return say('new.when.daysLong', { count: Math.ceil(minutes / 1440) })
}
