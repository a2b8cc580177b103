import { errorCodes } from '../../base/error-codes.ts'
import { plainId } from '../../base/plain-words.ts'
import { type Channel, type Feed, type Outgoing, type SendResult, timeOf } from '../channel.ts'
import { destinationOf, sourceOf } from './addresses.ts'
import type { Answer, Answered } from './link.ts'
import { operatorErrorOf, status, statusName } from './protocol/status.ts'
import { encodeText, type TextPart } from './protocol/text.ts'
import { classOfRefusal, errorCodeOf } from './receipts/failure.ts'
import type { MessageIds } from './receipts/message-ids.ts'
import type { Session, SubmitDraft } from './session.ts'
import type { SmppSettings } from './settings.ts'
import { validityOf } from './validity.ts'

type Report = Parameters<Channel['submit']>[1]
type MayGo = Parameters<Channel['submit']>[2]

/** A batch under way: how far it was taken, and how many of its messages have no result yet. */
type Job = { batch: Outgoing[]; report: Report; mayGo: MayGo; next: number; open: number; resolve: () => void }

const UNKNOWN = Symbol('handed over without an answer')

/**
 * What is known of the parts of a message: the id each was accepted under, that it was handed over without an
 * answer, or nothing, when it is still to go. It is told with a message that is put off (`taken`, where no answer is
 * an empty id) and comes back with its next attempt, whichever process makes it: only the rest is sent then.
 */
type Parts = { drafts: TextPart[]; done: (string | typeof UNKNOWN | undefined)[] }

/** A message under way: its parts, how many of them are out, and what speaks against it. */
type Sending = {
  job: Job
  index: number
  message: Outgoing
  parts: Parts
  out: number
  waiting: number
  refused?: Extract<SendResult, { kind: 'refused' }>
  put?: Extract<SendResult, { kind: 'busy' | 'lost' }>
  silent?: string
}

/** Nobody takes anything for so long: those who wait are sent away to come back later. */
const PATIENCE_MS = 1000
const LEAST_RETRY_MS = 500

/** Answers that may be better the next time, beside those that slow the bind down. */
const TEMPORARY: number[] = [
  status.ESME_RTHROTTLED,
  status.ESME_RMSGQFUL,
  status.ESME_RSYSERR,
  status.ESME_RX_T_APPN,
  status.ESME_RINVBNDSTS,
]

export type Outbox = Pick<Channel, 'submit'> & {
  /** Hands over as much as the sessions take; to be called when they may take more. */
  pump(): void
  /** Lets go of what was not handed over yet. */
  stop(): void
  /** How many parts were submitted so far, and how many of them have no id and will have none. */
  counts(): { submitted: number; unanswered: number }
}

/**
 * Takes batches, and hands their messages over part by part to whichever session has most room. Batches take turns,
 * so that a single code does not wait behind a bulk.
 */
export function createOutbox(
  settings: SmppSettings,
  sessions: () => Session[],
  ids: MessageIds,
  feed: Pick<Feed, 'late' | 'now'> = {},
): Outbox {
  const jobs: Job[] = []
  const ready: { sending: Sending; part: number }[] = []
  let turn = 0
  let impatient: NodeJS.Timeout | undefined
  let stopped = false
  let submitted = 0
  let unanswered = 0

  function submit(batch: Outgoing[], report: Report, mayGo: MayGo): Promise<void> {
    if (stopped || batch.length === 0) return Promise.resolve()
    return new Promise(resolve => {
      jobs.push({ batch, report, mayGo, next: 0, open: 0, resolve })
      pump()
    })
  }

  function pump() {
    for (;;) {
      const session = roomiest()
      if (!session) return waitForRoom()
      const next = ready.shift() ?? startNext()
      if (!next) return
      handOver(session, next.sending, next.part)
    }
  }

  function roomiest(): Session | undefined {
    let best: Session | undefined
    let most = 0
    for (const session of sessions()) {
      const room = session.room()
      if (room > most) [best, most] = [session, room]
    }
    return best
  }

  /** The first part of the next message that may go; its other parts become ready. */
  function startNext() {
    while (ready.length === 0) {
      const job = nextJob()
      if (!job) return undefined
      const index = job.next++
      if (job.next === job.batch.length) jobs.splice(jobs.indexOf(job), 1)
      if (job.mayGo(index)) start(job, index)
      else resolveIfDone(job)
    }
    return ready.shift()
  }

  function nextJob(): Job | undefined {
    turn = (turn + 1) % Math.max(1, jobs.length)
    return jobs[turn]
  }

  function start(job: Job, index: number) {
    const message = job.batch[index]!
    const parts = partsOf(message)
    job.open++
    if (!parts) return report(job, index, unspeakable('the text'))
    const sending: Sending = { job, index, message, parts, out: 0, waiting: 0 }
    for (let part = 0; part < parts.done.length; part++) {
      if (parts.done[part] !== undefined) continue
      sending.waiting++
      ready.push({ sending, part })
    }
    finishIfDone(sending)
  }

  /**
   * The text in parts, and what an attempt before has left to do of them. What goes whole now was taken in part by
   * other settings: then all of it is still to go.
   */
  function partsOf(message: Outgoing): Parts | undefined {
    try {
      const drafts = encodeText(message.text, referenceOf(message), settings)
      const taken = drafts.length === 1 ? undefined : message.taken
      return { drafts, done: drafts.map((_, part) => doneBefore(taken?.[part])) }
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  function handOver(session: Session, sending: Sending, part: number) {
    sending.waiting--
    if (sending.refused) return finishIfDone(sending)
    sending.out++
    const settle = (answer: Answer) => {
      sending.out--
      note(sending, part, answer)
      finishIfDone(sending)
    }
    try {
      const draft = draftOf(sending.message, sending.parts.drafts[part]!, settings, timeOf(feed))
      submitted++
      session.submit(draft, settle, answer => tellLate(sending, part, answer))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      sending.out--
      sending.refused = unspeakable(error.message)
      finishIfDone(sending)
    }
  }

  function note(sending: Sending, part: number, answer: Answer) {
    if (answer.kind !== 'answered') unanswered++
    if (answer.kind === 'lost' && settings.resendLost) sending.put = { kind: 'lost', reason: answer.reason }
    else if (answer.kind !== 'answered') {
      sending.parts.done[part] = UNKNOWN
      sending.silent = answer.reason
    } else if (answer.status === status.ESME_ROK) noteYes(sending, part, answer.messageId)
    else noteNo(sending, answer.status)
  }

  /** Its message has been reported as handed over; with the id, its receipt finds it all the same. */
  function tellLate({ message, parts }: Sending, part: number, answer: Answered) {
    const id = answer.status === status.ESME_ROK ? plainId(answer.messageId) : undefined
    if (id === undefined) return
    unanswered--
    const { companyId, uuid, destination } = message
    const providerId = ids.submitted(id, destination)
    void feed.late?.({ companyId, uuid, part, parts: parts.done.length, providerId }).catch(() => {})
  }

  /** Taken without an id, no receipt will ever find it. */
  function noteYes(sending: Sending, part: number, messageId: string) {
    const id = plainId(messageId)
    if (id) sending.parts.done[part] = ids.submitted(id, sending.message.destination)
    else {
      unanswered++
      sending.parts.done[part] = UNKNOWN
      sending.silent = 'accepted without an id'
    }
  }

  function noteNo(sending: Sending, code: number) {
    const reason = statusName(code)
    if (!TEMPORARY.includes(code)) {
      sending.refused = {
        kind: 'refused',
        errorCode: errorCodeOf(classOfRefusal(code)),
        reason,
        operatorError: operatorErrorOf(code),
      }
    } else if (sending.put?.kind !== 'lost') {
      sending.put = { kind: 'busy', reason, retryAfterMs: retryAfterMs() }
    }
  }

  function retryAfterMs(): number {
    const idle = sessions().map(session => session.idleMs())
    return idle.length === 0 ? LEAST_RETRY_MS : Math.ceil(Math.max(LEAST_RETRY_MS, Math.min(...idle)))
  }

  function finishIfDone(sending: Sending) {
    if (sending.out > 0 || sending.waiting > 0) return
    report(sending.job, sending.index, resultOf(sending))
  }

  function report(job: Job, index: number, result: SendResult) {
    job.open--
    job.report(index, result)
    resolveIfDone(job)
  }

  function resolveIfDone(job: Job) {
    if (job.open === 0 && (job.next >= job.batch.length || stopped)) job.resolve()
  }

  /** No room now. When every session is down or paused, not merely full, nobody is kept waiting for long. */
  function waitForRoom() {
    if (impatient || (jobs.length === 0 && ready.length === 0)) return
    impatient = setTimeout(() => {
      impatient = undefined
      if (sessions().every(session => session.idleMs() > 0)) sendAway()
      else pump()
    }, PATIENCE_MS)
  }

  /** Nobody is asked whether they may go, for they do not: whoever is asked counts as handed over. */
  function sendAway() {
    const later: SendResult = { kind: 'busy', reason: 'no bind takes anything now', retryAfterMs: retryAfterMs() }
    letGo(later)
    for (const job of jobs.splice(0)) {
      while (job.next < job.batch.length) {
        job.open++
        report(job, job.next++, later)
      }
      resolveIfDone(job)
    }
  }

  /** Parts that wait do not go: what is said of their message is "later", unless worse is known. */
  function letGo(later: Extract<SendResult, { kind: 'busy' }>) {
    for (const { sending } of ready.splice(0)) {
      sending.waiting--
      sending.put ??= later
      finishIfDone(sending)
    }
  }

  function stop() {
    stopped = true
    clearTimeout(impatient)
    letGo({ kind: 'busy', reason: 'stopped', retryAfterMs: LEAST_RETRY_MS })
    for (const job of jobs.splice(0)) resolveIfDone(job)
  }

  return { submit, pump, stop, counts: () => ({ submitted, unanswered }) }
}

/** From the uuid, so that whichever process goes on with a message joins its parts by the same one. */
const referenceOf = ({ uuid }: Outgoing) => Number.parseInt(uuid.slice(-4), 16) || 0

const doneBefore = (taken: string | undefined) => (taken === '' ? UNKNOWN : taken)

const unspeakable = (what: string): Extract<SendResult, { kind: 'refused' }> => ({
  kind: 'refused',
  errorCode: errorCodes.refusedByChannel,
  reason: `cannot be said in SMPP: ${what}`,
})

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

/**
 * One result for all parts. A refused part fails the message; a part still to go puts it off; a part without an
 * answer makes the whole unknown; accepted is what was accepted in every part.
 */
function resultOf({ refused, put, silent, parts }: Sending): SendResult {
  if (refused) return refused
  if (parts.done.includes(undefined)) return { ...put!, ...takenOf(parts) }
  if (parts.done.includes(UNKNOWN)) return unknownOf(parts, silent ?? 'a part had no answer before')
  return { kind: 'accepted', providerIds: parts.done as string[] }
}

/** The parts that were accepted have receipts to come; where none was there is nothing to keep. */
const unknownOf = (parts: Parts, reason: string): SendResult => ({
  kind: 'unknown',
  reason,
  ...(parts.done.every(id => id === UNKNOWN) ? {} : takenOf(parts)),
})

function takenOf({ done }: Parts): { taken?: Record<number, string> } {
  const taken = done.flatMap((id, part) => (id === undefined ? [] : [[part, id === UNKNOWN ? '' : id] as const]))
  return taken.length > 0 ? { taken: Object.fromEntries(taken) } : {}
}
