import { LRUCache } from 'lru-cache'
import { widgetErrors } from '../../base/widget-errors.ts'
import type { Verifier } from '../verifiers/verifier.ts'
import { SESSIONS_PER_CODE } from './sessions.ts'
import { refusedBy, type WidgetRefusal } from './widget.ts'

const HOUR_MS = 3600_000
const MOST_SUBJECTS = 50_000
/** Solutions of a captcha that one network may try, for each session that it may begin: people fail too. */
const CAPTCHAS_PER_SESSION = 2

type Count = { since: number; count: number }

/**
 * What strangers may make this process do within an hour, whether it succeeds or not: ask the captcha's provider, whose
 * quota the company pays for, and write sessions. Every process counts for itself.
 */
export class Attempts {
  readonly #counts = new LRUCache<string, Count>({ max: MOST_SUBJECTS })

  /** Before the captcha is checked. */
  refuseCaptcha({ verifierId, settings }: Verifier, network: string, now: Date): WidgetRefusal | undefined {
    const most = settings.limits.perAddress * SESSIONS_PER_CODE * CAPTCHAS_PER_SESSION
    return this.#refuse(`${verifierId} ${network}`, most, now, `from the network ${network}`)
  }

  /** Before a session is begun. */
  refuseSession({ verifierId, settings }: Verifier, now: Date): WidgetRefusal | undefined {
    return this.#refuse(verifierId, settings.limits.perVerifier * SESSIONS_PER_CODE, now, 'by all visitors together')
  }

  #refuse(subject: string, most: number, now: Date, whose: string): WidgetRefusal | undefined {
    const count = this.#countOf(subject, now.getTime())
    if (count.count >= most) {
      const seconds = Math.ceil((count.since + HOUR_MS - now.getTime()) / 1000)
      return refusedBy(widgetErrors.tooMany, `The widget was started too often ${whose}`, seconds)
    }
    count.count += 1
  }

  #countOf(subject: string, now: number): Count {
    const known = this.#counts.get(subject)
    if (known && now - known.since < HOUR_MS) return known
    const count = { since: now, count: 0 }
    this.#counts.set(subject, count)
    return count
  }
}
