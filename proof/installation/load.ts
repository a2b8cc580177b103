import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { inventRecipients } from '../../bench/recipients.ts'
import { eventually } from '../../src/testing/eventually.ts'
import type { Installation, Sending } from './installation.ts'

/** Each message has its own number, so that the operator's count by number is the count by message. */
export type Accepted = { kind: Kind; destination: string; uuid?: string }
export type Kind = 'dispatch' | 'single' | 'cascade' | 'code'

const TEXT = 'Your order is ready'
const REQUEST_MS = 15_000
const AGAIN_MS = 300
const PAUSE_MS: Record<'single' | 'cascade' | 'code', number> = { single: 20, cascade: 200, code: 200 }
/** The share of the dispatch that the operator has before the fault. */
const BEFORE_FAULT = 0.15

/**
 * Two dispatches, and clients that send single messages, cascades and codes until they are stopped. A client repeats a
 * request with the same Idempotency-Key until it has an answer, as documented.
 */
export class Load {
  readonly accepted: Accepted[] = []
  readonly dispatches: number[] = []
  readonly #installation: Installation
  readonly #numbers = numbersOnce()
  readonly #clients: Promise<void>[] = []
  readonly #size: number
  readonly #more: object
  #isStopped = false

  /** `more` are fields of each single message. */
  constructor(installation: Installation, size: number, more: object = {}) {
    this.#installation = installation
    this.#size = size
    this.#more = more
  }

  /** The operator has a part of the large dispatch when this returns. */
  async start(): Promise<void> {
    const [large, small] = this.#installation.companies
    await this.startDispatch(large!, this.#size)
    await this.startDispatch(small!, Math.ceil(this.#size / 5), this.#installation.receiver.url)
    for (const company of this.#installation.companies) {
      for (const kind of ['single', 'cascade', 'code'] as const) this.#clients.push(this.#send(kind, company))
    }
    await eventually(async () => {
      const { messages } = await this.#installation.operator.counts()
      if (messages < this.#size * BEFORE_FAULT) throw new Error('the operator has too few messages')
    })
  }

  async startDispatch(company: Sending, size: number, callbackUrl?: string): Promise<void> {
    const { partner } = this.#installation
    const messages = Array.from({ length: size }, () => ({ destination: this.#number() }))
    const { companyId, senderIds } = company
    const form = { companyId, name: 'Proof', senderIds, channelType: 'SMS', text: TEXT, messages }
    const once = { 'idempotency-key': randomUUID() }
    const { id, success } = await untilReady(() =>
      partner('POST', '/dispatches', { ...form, ...(callbackUrl ? { callbackUrl } : {}) }, once),
    )
    if (success !== size) throw new Error(`the dispatch was not accepted: ${success} of ${size} messages`)
    await untilReady(() => partner('POST', `/dispatches/${id}/start`))
    this.dispatches.push(id)
    for (const { destination } of messages) this.accepted.push({ kind: 'dispatch', destination })
  }

  /** One single message from the request to the operator. Resolves when the operator has answered. */
  async probe(): Promise<void> {
    const company = this.#installation.companies[1]!
    const uuid = await this.#sendOne('single', company)
    await eventually(async () => {
      const [row] = await this.#installation.sql<{ isSent: boolean }[]>`
        select status in ('SENT', 'DELIVERED') as is_sent from messages
        where company_id = ${company.companyId} and message_uuid = ${uuid}`
      if (!row?.isSent) throw new Error('not sent yet')
    })
  }

  /** Each client gets the answer to its last request first. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#clients)
  }

  async #send(kind: 'single' | 'cascade' | 'code', company: Sending) {
    while (!this.#isStopped) {
      await this.#sendOne(kind, company)
      await pause(PAUSE_MS[kind])
    }
  }

  async #sendOne(kind: 'single' | 'cascade' | 'code', company: Sending): Promise<string> {
    const destination = this.#number()
    const more = { callbackUrl: this.#installation.receiver.url, ...(kind === 'single' ? this.#more : {}) }
    const uuid = await this.#untilAccepted(requestOf(kind, company, { destination, ...more }))
    this.accepted.push({ kind, destination, uuid })
    return uuid
  }

  /** A request without an answer may have been accepted: the key makes the repetition count once. */
  async #untilAccepted({ path, key, form }: Request): Promise<string> {
    const once = randomUUID()
    return eventually(async () => {
      const response = await fetch(`${this.#installation.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': once },
        body: JSON.stringify(form),
        signal: AbortSignal.timeout(REQUEST_MS),
      }).catch(async error => {
        await pause(AGAIN_MS)
        throw error
      })
      const text = await response.text()
      const uuid = response.ok ? uuidIn(JSON.parse(text)) : undefined
      if (uuid) return uuid
      await pause(AGAIN_MS)
      throw new Error(`${path} answered ${response.status} ${text}`)
    })
  }

  #number(): string {
    return this.#numbers.next().value!
  }
}

/** A service that is not ready for a moment says so with 503. A client then repeats its request. */
async function untilReady(ask: () => ReturnType<Installation['partner']>) {
  return eventually(async () => {
    const { status, body } = await ask()
    if (status < 300) return body
    await pause(AGAIN_MS)
    throw new Error(`The partner API answered ${status} ${JSON.stringify(body)}`)
  })
}

type Request = { path: string; key: string; form: object }

function requestOf(kind: 'single' | 'cascade' | 'code', company: Sending, message: { destination: string }): Request {
  const { messageKey, verifierKey, verifierId } = company
  const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: TEXT }
  const vk = { channelType: 'VK', senderName: 'ROMASHKA', content: TEXT, condition: 'not_delivered', ttl: 600 }
  switch (kind) {
    case 'single':
      return { path: '/message', key: messageKey, form: { ...message, ...sms } }
    case 'cascade':
      return { path: '/message/cascade', key: messageKey, form: { ...message, cascade: [vk, sms] } }
    case 'code':
      return { path: '/verifier/send', key: verifierKey, form: codeFor(message.destination, verifierId) }
  }
}

const codeFor = (destination: string, gatewayId: string) => ({ channelType: 'SMS', destination, gatewayId })

type Answered = { uuid?: string; items?: { messageUuid?: string; code: number }[] }

const uuidIn = ({ uuid, items }: Answered): string | undefined => uuid ?? items?.[0]?.messageUuid

const NUMBERS_AT_ONCE = 5000

function* numbersOnce(): Generator<string, never> {
  const used = new Set<string>()
  for (;;) {
    for (const { destination } of inventRecipients(NUMBERS_AT_ONCE)) {
      if (used.has(destination)) continue
      used.add(destination)
      yield destination
    }
  }
}
