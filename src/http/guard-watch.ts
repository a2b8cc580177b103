import type { Logger } from 'pino'
import {
  type GuardWatch,
  kindOf,
  type SubjectKind,
  type SubjectState,
  subjectKinds,
} from '../domain/verifications/guard.ts'

/** Logs the subjects that the limits of verification codes block, and counts the refused codes. */
export class GuardLog implements GuardWatch {
  readonly refusals = new Map<SubjectKind, number>(subjectKinds.map(kind => [kind, 0]))
  readonly #log: Pick<Logger, 'warn'>

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  blocked(companyId: number, subjects: SubjectState[]) {
    for (const { subject, reason, blockedUntil, blocks } of subjects)
      this.#log.warn(
        { companyId, subject: shown(subject), reason, until: blockedUntil, blocks },
        'verification.blocked',
      )
  }

  refused(subject: string) {
    const kind = kindOf(subject)
    this.refusals.set(kind, this.refusals.get(kind)! + 1)
  }
}

const SHOWN_DIGITS = 4

/** The log has only the last four digits of a number. */
const shown = (subject: string) => (kindOf(subject) === 'number' ? `number:…${subject.slice(-SHOWN_DIGITS)}` : subject)
