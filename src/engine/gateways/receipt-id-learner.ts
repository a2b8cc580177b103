import type { Logger } from 'pino'
import type { LearntIds } from '../../channels/smpp/receipts/message-ids.ts'
import { readSettings } from '../../channels/smpp/settings.ts'
import type { Answers, Smpp } from '../../channels/smpp/smpp.ts'
import type { Pool } from '../../db/sql.ts'
import { saveAnswers, saveReceiptIds } from '../../domain/gateways/binds/receipt-ids.ts'
import type { Gateway, OwnAnswers } from '../../domain/gateways/gateway.ts'
import { makeUnreadReceiptsDue } from '../../domain/receipts/receipts.ts'
import { knownReceiptIds, learnReceiptIds } from './receipt-ids.ts'

/** An answer of the operator is recorded at the latest after this many looks. */
const LOOKS_UNTIL_RECORDED = 3

/**
 * Finds out how an operator writes message ids in its receipts, once for all engines. The channel finds out by itself when
 * the ids are long. Otherwise the learner compares all receipts of the gateway with all submissions. It looks until the form
 * is known, for the first time before the first bind and so before the first receipt. An error here never stops the renewal
 * of bind leases.
 */
export class ReceiptIdLearner {
  readonly #sql: Pool
  readonly #log: Logger
  readonly #gatewayId: number
  readonly #isAuto: boolean
  /** The counts of the last looks, the oldest first. */
  readonly #seen: Answers[] = []
  #isKnown: boolean
  #unwritten: LearntIds | undefined
  #writing = Promise.resolve()

  constructor({ sql, log }: { sql: Pool; log: Logger }, { gatewayId, settings }: Gateway) {
    this.#sql = sql
    this.#log = log
    this.#gatewayId = gatewayId
    this.#isAuto = readSettings(settings).receiptIds === 'auto'
    this.#isKnown = !this.#isAuto
  }

  /** Stores the form that the channel found out. */
  learn(learnt: LearntIds): Promise<void> {
    this.#isKnown = true
    this.#unwritten = learnt
    this.#log.info({ gatewayId: this.#gatewayId, ...learnt }, 'receipt_ids.learnt')
    return this.#write()
  }

  /** Tries to find the form. `worker` reports how many of its answers are recorded; a trial connection has no worker. */
  async look(channel: Pick<Smpp, 'recall' | 'answers'>, worker?: string): Promise<void> {
    if (!this.#isKnown) await this.#findOut(channel, worker).catch(this.#warn('receipt_ids.not_looked_for'))
    await this.#write()
  }

  /** The connection ends: submissions without an answer will not get one any more. */
  async finish(channel: Pick<Smpp, 'answers'>, worker?: string): Promise<void> {
    if (this.#isAuto && worker !== undefined) {
      const { unanswered } = channel.answers()
      const last = { behindMs: 0, unanswered, open: 0 }
      await saveAnswers(this.#sql, this.#gatewayId, worker, last).catch(this.#warn('receipt_ids.not_kept'))
    }
    await this.#write()
  }

  async #findOut(channel: Pick<Smpp, 'recall' | 'answers'>, worker: string | undefined) {
    if (worker !== undefined) {
      await saveAnswers(this.#sql, this.#gatewayId, worker, this.#recordedAnswers(channel.answers()))
    }
    const recalled = await knownReceiptIds(this.#sql, this.#gatewayId)
    const learnt = recalled ?? (await learnReceiptIds(this.#sql, this.#gatewayId))
    if (this.#isKnown || !learnt) return
    channel.recall(learnt)
    this.#isKnown = true
    if (!recalled) await this.learn(learnt)
  }

  /** The counts of some looks ago, because answers from that time are recorded by now. */
  #recordedAnswers(now: Answers): OwnAnswers {
    const [oldest = now] = this.#seen
    this.#seen.push(now)
    if (this.#seen.length > LOOKS_UNTIL_RECORDED) this.#seen.shift()
    const recent = now.submitted - oldest.submitted
    return {
      behindMs: performance.now() - oldest.answeredTo,
      unanswered: now.unanswered,
      open: now.open + 2 * recent, // twice: as many again may be submitted until the next look
    }
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeLast())
    return this.#writing
  }

  /** When the form cannot be written now, the next look writes it. */
  async #writeLast() {
    const learnt = this.#unwritten
    if (learnt === undefined) return
    this.#unwritten = undefined
    try {
      await saveReceiptIds(this.#sql, this.#gatewayId, learnt)
      await makeUnreadReceiptsDue(this.#sql, this.#gatewayId)
    } catch (err) {
      this.#unwritten ??= learnt
      this.#warn('receipt_ids.not_kept')(err)
    }
  }

  #warn(event: string) {
    return (err: unknown) => this.#log.warn({ err, gatewayId: this.#gatewayId }, event)
  }
}
