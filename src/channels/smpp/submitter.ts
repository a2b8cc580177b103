import { plainId } from '../../base/content/plain-words.ts'
import { type Channel, type Feed, type Outgoing, type SendResult, timeOf } from '../channel.ts'
import { destinationOf, sourceOf } from './addresses.ts'
import type { Answered, RequestResult } from './link.ts'
import { operatorErrorOf, status, statusName } from './protocol/status.ts'
import type { TextPart } from './protocol/text.ts'
import { classOfRefusal, errorCodeOf } from './receipts/failure.ts'
import type { MessageIds } from './receipts/message-ids.ts'
import type { Session, SubmitDraft } from './session.ts'
import type { SmppSettings } from './settings.ts'
import { notEncodable, Submission } from './submission.ts'
import { validityOf } from './validity.ts'

type Report = Parameters<Channel['submit']>[1]
type MayGo = Parameters<Channel['submit']>[2]
type Busy = Extract<SendResult, { kind: 'busy' }>

/** `next` is the first message that is not started yet; `open` counts the started messages without a result. */
type Batch = { messages: Outgoing[]; report: Report; mayGo: MayGo; next: number; open: number; resolve: () => void }

type Started = { submission: Submission; batch: Batch; index: number }
type ReadyPart = { started: Started; part: number }

/** If no session takes a part for so long, waiting messages are reported as busy. */
const PATIENCE_MS = 1000
const LEAST_RETRY_MS = 500

/** Errors after which a message is tried again. */
const TEMPORARY: number[] = [
  status.ESME_RTHROTTLED,
  status.ESME_RMSGQFUL,
  status.ESME_RSYSERR,
  status.ESME_RX_T_APPN,
  status.ESME_RINVBNDSTS,
]

/**
 * Submits the messages of batches, part by part, always through the session with the most room. Batches take turns, so
 * that a single code does not wait behind a large dispatch.
 */
export class Submitter implements Pick<Channel, 'submit'> {
  readonly #settings: SmppSettings
  readonly #sessions: () => Session[]
  readonly #ids: MessageIds
  readonly #feed: Pick<Feed, 'late' | 'now' | 'submitCodes'>
  readonly #batches: Batch[] = []
  readonly #ready: ReadyPart[] = []
  #turn = 0
  #isPumping = false
  #patience: NodeJS.Timeout | undefined
  #isStopped = false
  #submitted = 0
  #unanswered = 0

  constructor(
    settings: SmppSettings,
    sessions: () => Session[],
    ids: MessageIds,
    feed: Pick<Feed, 'late' | 'now' | 'submitCodes'> = {},
  ) {
    this.#settings = settings
    this.#sessions = sessions
    this.#ids = ids
    this.#feed = feed
  }

  submit(messages: Outgoing[], report: Report, mayGo: MayGo): Promise<void> {
    if (this.#isStopped || messages.length === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#batches.push({ messages, report, mayGo, next: 0, open: 0, resolve })
      this.pump()
    })
  }

  /**
   * Submits as many parts as the sessions take. Must be called when they may take more. A call within a call changes
   * nothing: the outer one goes on with what the inner one added.
   */
  pump() {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      this.#submitAll()
    } finally {
      this.#isPumping = false
    }
  }

  #submitAll() {
    for (;;) {
      this.#feed.submitCodes?.()
      const session = this.#roomiest()
      if (!session) return this.#waitForRoom()
      const next = this.#ready.shift() ?? this.#startNext()
      if (!next) return
      this.#submitPart(session, next)
    }
  }

  /** Submits no more parts. Messages with parts that wait are reported as busy. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#patience)
    this.#delayReady({ kind: 'busy', reason: 'stopped', retryAfterMs: LEAST_RETRY_MS })
    for (const batch of this.#batches.splice(0)) this.#resolveIfDone(batch)
  }

  /** How many parts were submitted so far, and how many of them ended without an id. */
  counts(): { submitted: number; unanswered: number } {
    return { submitted: this.#submitted, unanswered: this.#unanswered }
  }

  #roomiest(): Session | undefined {
    let best: Session | undefined
    let most = 0
    for (const session of this.#sessions()) {
      const room = session.room()
      if (room > most) [best, most] = [session, room]
    }
    return best
  }

  /** The first part of the next message that may go. Its other parts become ready. */
  #startNext(): ReadyPart | undefined {
    while (this.#ready.length === 0) {
      const batch = this.#nextBatch()
      if (!batch) return undefined
      const index = batch.next++
      if (batch.next === batch.messages.length) this.#batches.splice(this.#batches.indexOf(batch), 1)
      if (batch.mayGo(index)) this.#start(batch, index)
      else this.#resolveIfDone(batch)
    }
    return this.#ready.shift()
  }

  /** Batches take turns, and codes go before all others. */
  #nextBatch(): Batch | undefined {
    const ofCodes = this.#batches.findIndex(({ messages }) => messages[0]?.isCode)
    this.#turn = ofCodes >= 0 ? ofCodes : (this.#turn + 1) % Math.max(1, this.#batches.length)
    return this.#batches[this.#turn]
  }

  #start(batch: Batch, index: number) {
    batch.open++
    const submission = this.#submissionOf(batch.messages[index])
    if (!submission) return this.#report(batch, index, { kind: 'refused', ...notEncodable('the text') })
    const started = { submission, batch, index }
    for (const part of submission.openParts()) this.#ready.push({ started, part })
    this.#reportIfDone(started)
  }

  #submissionOf(message: Outgoing | undefined): Submission | undefined {
    try {
      return message && new Submission(message, this.#settings)
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  #submitPart(session: Session, { started, part }: ReadyPart) {
    const { submission } = started
    submission.stopWaiting()
    if (submission.isRefused) return this.#reportIfDone(started)
    submission.startSubmitting()
    try {
      const draft = draftOf(submission.message, submission.draftOf(part), this.#settings, timeOf(this.#feed))
      this.#submitted++
      session.submit(
        draft,
        answer => this.#onAnswer(started, part, answer),
        answer => this.#onLateAnswer(submission, part, answer),
      )
      if (submission.message.isCode) session.flush() // the receipts that are being read may take long
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      submission.endSubmitting()
      submission.refuse(notEncodable(error.message))
      this.#reportIfDone(started)
    }
  }

  #onAnswer(started: Started, part: number, answer: RequestResult) {
    started.submission.endSubmitting()
    this.#note(started.submission, part, answer)
    this.#reportIfDone(started)
  }

  #note(submission: Submission, part: number, answer: RequestResult) {
    if (answer.kind !== 'answered') {
      this.#unanswered++
      if (answer.kind === 'lost' && this.#settings.resendLost) submission.lose(answer.reason)
      else submission.acceptWithoutId(part, answer.reason)
    } else if (answer.status === status.ESME_ROK) this.#noteAccepted(submission, part, answer.messageId)
    else this.#noteError(submission, answer.status)
  }

  /** Without an id, no receipt can ever be matched to the part. */
  #noteAccepted(submission: Submission, part: number, messageId: string) {
    const id = plainId(messageId)
    if (id) return submission.accept(part, this.#ids.submitted(id, submission.message.destination))
    this.#unanswered++
    submission.acceptWithoutId(part, 'accepted without an id')
  }

  #noteError(submission: Submission, code: number) {
    const reason = statusName(code)
    if (TEMPORARY.includes(code)) {
      submission.delay({ kind: 'busy', reason, retryAfterMs: this.#retryAfterMs() })
    } else {
      const errorCode = errorCodeOf(classOfRefusal(code))
      submission.refuse({ errorCode, reason, operatorError: operatorErrorOf(code) })
    }
  }

  /** The message was already reported as unknown. With the id, its receipt can still be matched. */
  #onLateAnswer({ message, parts }: Submission, part: number, answer: Answered) {
    const id = answer.status === status.ESME_ROK ? plainId(answer.messageId) : undefined
    if (id === undefined) return
    this.#unanswered--
    const { companyId, uuid, destination } = message
    const providerId = this.#ids.submitted(id, destination)
    void this.#feed.late?.({ companyId, uuid, part, parts, providerId }).catch(() => {})
  }

  #retryAfterMs(): number {
    const idle = this.#sessions().map(session => session.idleMs())
    return idle.length === 0 ? LEAST_RETRY_MS : Math.ceil(Math.max(LEAST_RETRY_MS, Math.min(...idle)))
  }

  #reportIfDone({ submission, batch, index }: Started) {
    if (submission.isDone) this.#report(batch, index, submission.result())
  }

  #report(batch: Batch, index: number, result: SendResult) {
    batch.open--
    batch.report(index, result)
    this.#resolveIfDone(batch)
  }

  #resolveIfDone(batch: Batch) {
    if (batch.open === 0 && (batch.next >= batch.messages.length || this.#isStopped)) batch.resolve()
  }

  /** A full session will have room soon. If every session is down or paused, messages do not wait for long. */
  #waitForRoom() {
    if (this.#patience || (this.#batches.length === 0 && this.#ready.length === 0)) return
    this.#patience = setTimeout(() => {
      this.#patience = undefined
      if (this.#sessions().every(session => session.idleMs() > 0)) this.#delayAll()
      else this.pump()
    }, PATIENCE_MS)
  }

  /** Reports every waiting message as busy, without `mayGo`: the caller counts a message after `mayGo` as handed over. */
  #delayAll() {
    const busy: Busy = { kind: 'busy', reason: 'no bind takes anything now', retryAfterMs: this.#retryAfterMs() }
    this.#delayReady(busy)
    for (const batch of this.#batches.splice(0)) {
      while (batch.next < batch.messages.length) {
        batch.open++
        this.#report(batch, batch.next++, busy)
      }
      this.#resolveIfDone(batch)
    }
  }

  /** Ready parts are not submitted. Their messages are busy, unless there is already another reason. */
  #delayReady(busy: Busy) {
    for (const { started } of this.#ready.splice(0)) {
      started.submission.stopWaiting()
      started.submission.delayUnlessKnown(busy)
      this.#reportIfDone(started)
    }
  }
}

function draftOf(message: Outgoing, part: TextPart, settings: SmppSettings, now: Date): SubmitDraft {
  const source = sourceOf(message.senderName, settings)
  const destination = destinationOf(message.destination, settings)
  return {
    command: 'submit_sm',
    serviceType: settings.serviceType,
    sourceAddrTon: source.ton,
    sourceAddrNpi: source.npi,
    sourceAddr: source.addr,
    destAddrTon: destination.ton,
    destAddrNpi: destination.npi,
    destinationAddr: destination.addr,
    validityPeriod: validityOf(message, settings, now.getTime()),
    registeredDelivery: settings.registeredDelivery,
    ...part,
  }
}
