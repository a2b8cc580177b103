import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDatabaseAway, isDatabaseBusy } from '../../base/database-losses.ts'
import { AppError } from '../../base/errors.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { foreignNames } from '../gateways/name-owners.ts'
import { type Once, once } from '../idempotency/idempotency.ts'
import { type Acceptance, type NewSingle, type Refusal, type SingleWish, stepsOf } from '../messages/single.ts'
import type { Numbering } from '../numbering/numbering.ts'
import { openPriceBook, type PriceBook } from '../pricing/pricing.ts'
import { sendersCalled } from '../senders/senders.ts'
import { approvedTemplates, forgetTemplates, refuseChangedTemplates, TemplatesChanged } from '../templates/approved.ts'
import { budgetOf, Effort, forAllTemplates } from '../templates/effort.ts'
import { whyTemplatesAreUnusable } from '../templates/templates.ts'
import type { GuardWatch, SubjectState } from '../verifications/guard.ts'
import { type Desk, draftWhole, matchWishes } from './draft.ts'
import { acceptSingles, acceptWithin } from './singles.ts'

export type IntakeContext = {
  sql: Pool
  clock: () => Date
  numbering: () => Numbering
  billingZone: string
  linkBase: string
  /** Is told of verification codes that are refused, and of what is blocked. */
  guard?: GuardWatch
}

export type Intake = {
  /** With an Idempotency-Key a request is written alone, together with its key and with what belongs to it. */
  accept(companyId: number, wishes: SingleWish[], once?: Once, alongside?: Alongside): Promise<Acceptance[]>
  /** The messages as they would be accepted, or why not. Nothing is stored. */
  draft(companyId: number, wishes: SingleWish[]): Promise<(NewSingle | Refusal)[]>
}

/** What is written in the transaction that accepts the messages. */
export type Alongside = (tx: Transaction, answers: Acceptance[]) => Promise<void>

type Size = { messages: number; bytes: number }
type Request = { wishes: SingleWish[]; size: Size; answer: PromiseWithResolvers<Acceptance[]> }
/** `isWriting`: the newest group has not reached its commit, nor taken long. */
type Line = { waiting: Request[]; hands: number; isWriting: boolean }

const MOST_AT_ONCE = 2000
/** Groups of a company under way: while one is committed, the next is drafted and waits for the account. */
const MOST_HANDS = 2
/** A group that takes longer than this to be written lets the next one begin: it may be a large one, with many templates. */
const LONG_MS = 50
/** More than this waits nowhere: who comes then is sent away to come again. */
const MOST_WAITING = 50_000
const MOST_WAITING_BYTES = 64 * 1024 * 1024
const RETRY_AFTER_SECONDS = 2
/** Requests of thousands of messages are drafted in slices. */
const SLICE_MS = 10
/** Each further try means that a template changed within the few milliseconds of the one before. */
const MOST_TRIES = 10

/**
 * Group commit: requests that come while a company's last ones are being written are written together, in one
 * transaction. The first of a quiet time does not wait. An accident of the group is none of its members': each is then
 * tried alone.
 */
export function createIntake(context: IntakeContext): Intake {
  const lines = new Map<number, Line>()
  const bookOf = priceBooks(context.sql)
  const waiting: Size = { messages: 0, bytes: 0 }

  function accept(
    companyId: number,
    wishes: SingleWish[],
    request?: Once,
    alongside?: Alongside,
  ): Promise<Acceptance[]> {
    const size = sizeOf(wishes)
    if (waiting.messages + size.messages > MOST_WAITING || waiting.bytes + size.bytes > MOST_WAITING_BYTES)
      throw tooBusy()
    waiting.messages += size.messages
    waiting.bytes += size.bytes
    const whole = { companyId, wishes, size }
    return request ? acceptOnce(whole, request, alongside) : acceptInGroup(companyId, wishes, size)
  }

  function letGo({ messages, bytes }: Size) {
    waiting.messages -= messages
    waiting.bytes -= bytes
  }

  type Whole = { companyId: number; wishes: SingleWish[]; size: Size }

  async function acceptOnce(
    { companyId, wishes, size }: Whole,
    request: Once,
    alongside: Alongside | undefined,
  ): Promise<Acceptance[]> {
    try {
      return await withFreshTemplates(companyId, () => acceptOnceDrafted(companyId, wishes, request, alongside))
    } finally {
      letGo(size)
    }
  }

  async function acceptOnceDrafted(
    companyId: number,
    wishes: SingleWish[],
    request: Once,
    alongside: Alongside = async () => {},
  ): Promise<Acceptance[]> {
    const now = context.clock()
    const { sql, billingZone } = context
    const { drafts, templatesVersion } = await draftAll(companyId, wishes, now)
    const blocked: SubjectState[] = []
    const noteBlocked = (subjects: SubjectState[]) => blocked.push(...subjects)
    const bounds = { billingZone, now, templatesVersion, isLaneBound: true, noteBlocked }
    const accept = async (tx: Transaction) => {
      const answers = merged(drafts, await acceptWithin(tx, companyId, drafts.filter(isSingle), bounds))
      await alongside(tx, answers)
      return answers
    }
    const answers = await once(sql, request, accept, isAnyAccepted)
    tellGuard(companyId, blocked, answers)
    return answers
  }

  /** Drafts are made again when templates were approved or ended since the templates were read. */
  async function withFreshTemplates<T>(companyId: number, draftAndAccept: () => Promise<T>): Promise<T> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return await draftAndAccept()
      } catch (error) {
        if (!(error instanceof TemplatesChanged)) throw error
        forgetTemplates(context.sql, companyId)
      }
    }
    throw tooBusy()
  }

  function acceptInGroup(companyId: number, wishes: SingleWish[], size: Size): Promise<Acceptance[]> {
    const request = { wishes, size, answer: Promise.withResolvers<Acceptance[]>() }
    const line = lines.get(companyId) ?? { waiting: [], hands: 0, isWriting: false }
    lines.set(companyId, line)
    line.waiting.push(request)
    startNext(companyId, line)
    return request.answer.promise
  }

  /**
   * The next group begins when the last one is about to commit. A group that began earlier would only wait for the
   * account, and requests that arrive meanwhile could not join it: groups were a third smaller. A group that takes long
   * to draft keeps nobody waiting for it.
   */
  function startNext(companyId: number, line: Line) {
    if (line.isWriting || line.hands === MOST_HANDS) return
    if (line.waiting.length > 0) void workOff(companyId, line)
    else if (line.hands === 0) lines.delete(companyId)
  }

  async function workOff(companyId: number, line: Line) {
    line.hands += 1
    line.isWriting = true
    // What arrives in the same turn of the event loop belongs together.
    await new Promise(resolve => setImmediate(resolve))
    const written = Promise.withResolvers<void>()
    const patience = setTimeout(written.resolve, LONG_MS)
    const ended = writeGroup(companyId, takeGroup(line), written.resolve)
    await Promise.race([written.promise, ended])
    clearTimeout(patience)
    line.isWriting = false
    startNext(companyId, line)
    await ended
    line.hands -= 1
    startNext(companyId, line)
  }

  async function writeGroup(companyId: number, group: Request[], onWritten: () => void) {
    try {
      await write(companyId, group, onWritten)
    } catch (error) {
      // What was lost on its way may have been written: to try again could send it twice.
      // After a wait that was too long, each request by itself would wait as long again.
      const isAlike = isDatabaseAway(error) || isDatabaseBusy(error)
      if (group.length === 1 || isAlike) for (const { answer } of group) answer.reject(error)
      else for (const request of group) await write(companyId, [request]).catch(request.answer.reject)
    } finally {
      for (const { size } of group) letGo(size)
    }
  }

  async function write(companyId: number, group: Request[], onWritten?: () => void) {
    const wishes = group.flatMap(request => request.wishes)
    const answers = await withFreshTemplates(companyId, () => acceptDrafted(companyId, wishes, onWritten))
    for (const request of group) request.answer.resolve(answers.splice(0, request.wishes.length))
  }

  async function acceptDrafted(
    companyId: number,
    wishes: SingleWish[],
    onWritten: (() => void) | undefined,
  ): Promise<Acceptance[]> {
    const now = context.clock()
    const { sql, billingZone } = context
    const { drafts, templatesVersion } = await draftAll(companyId, wishes, now)
    const singles = drafts.filter(isSingle)
    if (singles.length > 0) {
      const blocked: SubjectState[] = []
      const noteBlocked = (subjects: SubjectState[]) => blocked.push(...subjects)
      const bounds = { billingZone, now, templatesVersion, isLaneBound: true, noteBlocked, onWritten }
      const answers = await acceptSingles(sql, companyId, singles, bounds)
      tellGuard(companyId, blocked, answers)
      return merged(drafts, answers)
    }
    // Without an accepting transaction a refusal could rest on templates of up to a second ago.
    if (wishes.some(isOfTemplate)) await refuseChangedTemplates(sql, companyId, templatesVersion)
    return merged(drafts, [])
  }

  function tellGuard(companyId: number, blocked: SubjectState[], answers: Acceptance[]) {
    if (blocked.length > 0) context.guard?.blocked(companyId, blocked)
    for (const answer of answers)
      if (answer.kind === 'refused' && answer.why === 'too many') context.guard?.refused(answer.subject)
  }

  async function draftAll(companyId: number, wishes: SingleWish[], now: Date) {
    const { desk, templatesVersion } = await deskOf(companyId, wishes, now)
    const drafts: Draft[] = []
    let pauseAt = performance.now() + SLICE_MS
    for (const wish of wishes) {
      drafts.push(draftWhole(desk, wish, now))
      if (performance.now() < pauseAt) continue
      await nextTurn() // others have their turn: some messages take a hundred times as long as most
      pauseAt = performance.now() + SLICE_MS
    }
    return { drafts, templatesVersion }
  }

  async function deskOf(
    companyId: number,
    wishes: SingleWish[],
    now: Date,
  ): Promise<{ desk: Desk; templatesVersion: number }> {
    const { sql, numbering, linkBase } = context
    const steps = wishes.flatMap(stepsOf)
    const names = [...new Set(steps.map(({ senderName }) => senderName))]
    const [senders, foreign, { templates, version: templatesVersion }, prices] = await Promise.all([
      sendersCalled(sql, companyId, names),
      foreignNames(sql, companyId, steps),
      approvedTemplates(sql, companyId, now),
      bookOf(companyId),
    ])
    const matches = await matchWishes(templates, steps, () => effortOf(companyId))
    const desk = { senders, foreignNames: foreign, templates, matches, prices, numbering: numbering(), linkBase }
    const unknown = templateIdsIn(wishes).filter(id => !templates.some(({ templateId }) => templateId === id))
    if (unknown.length === 0) return { desk, templatesVersion }
    const unusableTemplates = await whyTemplatesAreUnusable(sql, companyId, unknown)
    return { desk: { ...desk, unusableTemplates }, templatesVersion }
  }

  const effortOf = (companyId: number) => new Effort(forAllTemplates, budgetOf(context.sql, companyId))

  const draft = async (companyId: number, wishes: SingleWish[]) =>
    (await draftAll(companyId, wishes, context.clock())).drafts

  return { accept, draft }
}

const isOfTemplate = (wish: SingleWish) => stepsOf(wish).some(({ content }) => content?.contentType === 'template')

/** The templates that messages name by their ids. */
function templateIdsIn(wishes: SingleWish[]): number[] {
  const contents = wishes.flatMap(stepsOf).map(({ content }) => content)
  const ids = contents.flatMap(content => (content?.contentType === 'template' ? [content.templateId] : []))
  return [...new Set(ids.filter(id => typeof id === 'number'))]
}

type Draft = NewSingle | Refusal

const isSingle = (draft: Draft): draft is NewSingle => !('kind' in draft)

/** What became of each draft: those that were refused at once, and in their order those that were judged later. */
function merged(drafts: Draft[], accepted: Acceptance[]): Acceptance[] {
  const next = accepted.values()
  return drafts.map(draft => (isSingle(draft) ? next.next().value! : draft))
}

/** A request of which everything was refused has done nothing: with its key it may come again. */
const isAnyAccepted = (answers: Acceptance[]) => answers.some(({ kind }) => kind === 'accepted')

/** As many requests as fit together; one is always taken whole. */
function takeGroup({ waiting }: Line): Request[] {
  let count = 1
  let size = waiting[0]!.wishes.length
  while (count < waiting.length && size + waiting[count]!.wishes.length <= MOST_AT_ONCE) {
    size += waiting[count++]!.wishes.length
  }
  return waiting.splice(0, count)
}

/** In memory a character takes two bytes. */
function sizeOf(wishes: SingleWish[]): Size {
  let characters = 0
  for (const wish of wishes) for (const step of stepsOf(wish)) characters += charactersOf(step)
  return { messages: wishes.length, bytes: 2 * characters }
}

/** Of everything that may be long. Most wishes are a plain text and little else, which costs nothing to add up. */
function charactersOf({ text, content, callbackUrl, externalId, options: { tags } }: SingleWish): number {
  let characters = text.length + (callbackUrl?.length ?? 0) + (externalId?.length ?? 0)
  if (content) characters += JSON.stringify(content).length
  if (tags) for (const tag of tags) characters += tag.length
  return characters
}

const tooBusy = () =>
  new AppError('not_ready', 'Too many messages are being taken in: try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

const FRESH_MS = 1000
const MOST_BOOKS = 1000

/** Prices change seldom: those of a company are read at most once a second. */
function priceBooks(sql: Pool) {
  const books = new Map<number, { readAt: number; book: Promise<PriceBook> }>()

  return (companyId: number): Promise<PriceBook> => {
    const known = books.get(companyId)
    if (known && performance.now() - known.readAt < FRESH_MS) return known.book
    if (books.size >= MOST_BOOKS) books.clear()
    const book = requireAnyCompany(sql, companyId).then(({ partnerId }) => openPriceBook(sql, partnerId))
    books.set(companyId, { readAt: performance.now(), book })
    book.catch(() => books.delete(companyId))
    return book
  }
}
