import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import type { Tracer } from '../../base/tracing/tracer.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { foreignNames } from '../gateways/name-owners.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import {
  type Acceptance,
  acceptedIn,
  type MessageRequest,
  type NewSingle,
  type Refusal,
  stepsOf,
} from '../messages/single.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { NameRoutes } from '../routing/routing.ts'
import { sendersByNames } from '../senders/senders.ts'
import { approvedTemplates, forgetTemplates, refuseChangedTemplates, TemplatesChanged } from '../templates/approved.ts'
import { budgetOf, Effort, forAllTemplates } from '../templates/effort.ts'
import { whyTemplatesAreUnusable } from '../templates/templates.ts'
import type { GuardWatch, SubjectState } from '../verifications/guard.ts'
import { type DraftContext, draftWhole, matchRequests } from './draft.ts'
import { GroupCommit } from './group-commit.ts'
import { PriceBooks } from './price-books.ts'
import { acceptSingles, acceptWithin } from './singles.ts'

export type IntakeContext = {
  sql: Pool
  clock: () => Date
  numbering: () => Numbering
  billingZone: string
  linkBase: string
  /** Gets notice of refused verification codes and of blocked subjects. */
  guard?: GuardWatch
  tracer?: Tracer | undefined
}

/** Writes more in the transaction that accepts the messages. */
export type Alongside = (tx: Transaction, answers: Acceptance[]) => Promise<void>

/** The most messages that wait. Further requests are refused, and the client may retry them. */
const MOST_WAITING = 50_000
const MOST_WAITING_BYTES = 64 * 1024 * 1024
const RETRY_AFTER_SECONDS = 2
/** Drafting a large request stops after this time, so that other requests get their turn. */
const SLICE_MS = 10
/** Each further try means that a template changed during the few milliseconds of the try before. */
const MOST_TRIES = 10

type Size = { messages: number; bytes: number }
type Draft = NewSingle | Refusal

/** Accepts single messages and cascades: checks, prices and stores them. */
export class Intake {
  readonly #context: IntakeContext
  readonly #prices: PriceBooks
  readonly #groups: GroupCommit<MessageRequest, Acceptance>
  readonly #waiting: Size = { messages: 0, bytes: 0 }

  constructor(context: IntakeContext) {
    this.#context = context
    this.#prices = new PriceBooks(context.sql)
    this.#groups = new GroupCommit((companyId, requests, onWritten) =>
      this.#withFreshTemplates(companyId, () => this.#acceptGroup(companyId, requests, onWritten)),
    )
  }

  /**
   * Accepts the messages of a request, or throws at once when too many wait. A request with an Idempotency-Key is written alone,
   * together with its key and with the rows of `alongside`. Other requests of a company are written in groups.
   */
  accept(companyId: number, requests: MessageRequest[], key?: Once, alongside?: Alongside): Promise<Acceptance[]> {
    const release = this.#reserve(sizeOf(requests))
    const answers = key
      ? this.#withFreshTemplates(companyId, () => this.#acceptOnce(companyId, requests, key, alongside))
      : this.#groups.write(companyId, requests)
    const { tracer } = this.#context
    return (tracer ? this.#traced(tracer, companyId, answers) : answers).finally(release)
  }

  async #traced(tracer: Tracer, companyId: number, answers: Promise<Acceptance[]>): Promise<Acceptance[]> {
    const { clock } = this.#context
    const startedAt = clock()
    const attributes = { 'tidings.company_id': companyId }
    for (const uuid of acceptedIn(await answers))
      tracer.step(uuid, 'accept', { startedAt, endedAt: clock(), attributes })
    return answers
  }

  /** Drafts the messages as they would be accepted, or refuses them. Nothing is stored. */
  async draft(companyId: number, requests: MessageRequest[]): Promise<Draft[]> {
    return (await this.#draftAll(companyId, requests, this.#context.clock())).drafts
  }

  #reserve({ messages, bytes }: Size): () => void {
    const waiting = this.#waiting
    if (waiting.messages + messages > MOST_WAITING || waiting.bytes + bytes > MOST_WAITING_BYTES) throw tooBusy()
    waiting.messages += messages
    waiting.bytes += bytes
    return () => {
      waiting.messages -= messages
      waiting.bytes -= bytes
    }
  }

  /** Drafts again if templates were approved or ended after they were read. */
  async #withFreshTemplates<T>(companyId: number, draftAndAccept: () => Promise<T>): Promise<T> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return await draftAndAccept()
      } catch (error) {
        if (!(error instanceof TemplatesChanged)) throw error
        forgetTemplates(this.#context.sql, companyId)
      }
    }
    throw tooBusy()
  }

  async #acceptOnce(
    companyId: number,
    requests: MessageRequest[],
    key: Once,
    alongside: Alongside = async () => {},
  ): Promise<Acceptance[]> {
    const { drafts, bounds, blocked } = await this.#prepare(companyId, requests)
    const accept = async (tx: Transaction) => {
      const answers = merged(drafts, await acceptWithin(tx, companyId, drafts.filter(isSingle), bounds))
      await alongside(tx, answers)
      return answers
    }
    const answers = await once(this.#context.sql, key, accept, isAnyAccepted)
    this.#notifyGuard(companyId, blocked, answers)
    return answers
  }

  async #acceptGroup(
    companyId: number,
    requests: MessageRequest[],
    onWritten: (() => void) | undefined,
  ): Promise<Acceptance[]> {
    const { sql } = this.#context
    const { drafts, bounds, blocked } = await this.#prepare(companyId, requests)
    const singles = drafts.filter(isSingle)
    if (singles.length > 0) {
      const answers = await acceptSingles(sql, companyId, singles, { ...bounds, onWritten })
      this.#notifyGuard(companyId, blocked, answers)
      return merged(drafts, answers)
    }
    // Without an accepting transaction a refusal could rest on templates that are up to a second old.
    if (requests.some(namesTemplate)) await refuseChangedTemplates(sql, companyId, bounds.templatesVersion)
    return merged(drafts, [])
  }

  async #prepare(companyId: number, requests: MessageRequest[]) {
    const { clock, billingZone } = this.#context
    const now = clock()
    const { drafts, templatesVersion } = await this.#draftAll(companyId, requests, now)
    const blocked: SubjectState[] = []
    const noteBlocked = (subjects: SubjectState[]) => blocked.push(...subjects)
    return { drafts, blocked, bounds: { billingZone, now, templatesVersion, isLaneBound: true, noteBlocked } }
  }

  #notifyGuard(companyId: number, blocked: SubjectState[], answers: Acceptance[]) {
    const { guard } = this.#context
    if (blocked.length > 0) guard?.blocked(companyId, blocked)
    for (const answer of answers)
      if (answer.kind === 'refused' && answer.why === 'too many') guard?.refused(answer.subject)
  }

  async #draftAll(companyId: number, requests: MessageRequest[], now: Date) {
    const { context, templatesVersion } = await this.#draftContext(companyId, requests, now)
    const drafts: Draft[] = []
    let pauseAt = performance.now() + SLICE_MS
    for (const request of requests) {
      drafts.push(draftWhole(context, request, now))
      if (performance.now() < pauseAt) continue
      await nextTurn() // some messages take a hundred times as long as most
      pauseAt = performance.now() + SLICE_MS
    }
    return { drafts, templatesVersion }
  }

  async #draftContext(
    companyId: number,
    requests: MessageRequest[],
    now: Date,
  ): Promise<{ context: DraftContext; templatesVersion: number }> {
    const { sql, numbering, linkBase } = this.#context
    const steps = requests.flatMap(stepsOf)
    const names = [...new Set(steps.map(({ senderName }) => senderName))]
    const [senders, foreign, { templates, version: templatesVersion }, prices] = await Promise.all([
      sendersByNames(sql, companyId, names),
      foreignNames(sql, companyId, steps),
      approvedTemplates(sql, companyId, now),
      this.#prices.of(companyId),
    ])
    const effortOf = () => new Effort(forAllTemplates, budgetOf(sql, companyId))
    const matches = await matchRequests(templates, steps, effortOf)
    const routes = new NameRoutes(senders)
    const context = { routes, foreignNames: foreign, templates, matches, prices, numbering: numbering(), linkBase }
    const unknown = templateIdsIn(requests).filter(id => !templates.some(({ templateId }) => templateId === id))
    if (unknown.length === 0) return { context, templatesVersion }
    const unusableTemplates = await whyTemplatesAreUnusable(sql, companyId, unknown)
    return { context: { ...context, unusableTemplates }, templatesVersion }
  }
}

const namesTemplate = (request: MessageRequest) =>
  stepsOf(request).some(({ content }) => content?.contentType === 'template')

/** The ids of the templates that messages name. */
function templateIdsIn(requests: MessageRequest[]): number[] {
  const contents = requests.flatMap(stepsOf).map(({ content }) => content)
  const ids = contents.flatMap(content => (content?.contentType === 'template' ? [content.templateId] : []))
  return [...new Set(ids.filter(id => typeof id === 'number'))]
}

const isSingle = (draft: Draft): draft is NewSingle => !('kind' in draft)

/** Joins the drafts that were refused with the answers to the others, in the order of the request. */
function merged(drafts: Draft[], accepted: Acceptance[]): Acceptance[] {
  const next = accepted.values()
  return drafts.map(draft => (isSingle(draft) ? next.next().value! : draft))
}

/** A request whose messages were all refused changed nothing, so it may come again with its Idempotency-Key. */
const isAnyAccepted = (answers: Acceptance[]) => answers.some(({ kind }) => kind === 'accepted')

/** In memory a character takes two bytes. */
function sizeOf(requests: MessageRequest[]): Size {
  let characters = 0
  for (const request of requests) for (const step of stepsOf(request)) characters += charactersOf(step)
  return { messages: requests.length, bytes: 2 * characters }
}

/** Counts the fields that may be long. Most messages are a plain text, which costs nothing to count. */
function charactersOf({ text, content, callbackUrl, externalId, options: { tags } }: MessageRequest): number {
  let characters = text.length + (callbackUrl?.length ?? 0) + (externalId?.length ?? 0)
  if (content) characters += JSON.stringify(content).length
  if (tags) for (const tag of tags) characters += tag.length
  return characters
}

const tooBusy = () =>
  new AppError('not_ready', 'Too many messages wait to be accepted: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
