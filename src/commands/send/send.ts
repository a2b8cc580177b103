import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelType } from '../../base/channel-types.ts'
import { AppError, UsageError } from '../../base/errors.ts'
import { moneyToNumber } from '../../base/money.ts'
import { compileTemplate } from '../../base/text-template.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import type { Dispatch, NewDispatch, Progress, Recipient } from '../../domain/dispatches/dispatch.ts'
import {
  addMessages,
  createDispatch,
  requireDispatch,
  requireDispatchProgress,
} from '../../domain/dispatches/dispatches.ts'
import { startDispatch } from '../../domain/dispatches/lifecycle.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import type { Partner } from '../../domain/partners/partner.ts'
import { requirePartner } from '../../domain/partners/partners.ts'
import { isInternational, type Sender } from '../../domain/senders/sender.ts'
import { listSenders } from '../../domain/senders/senders.ts'
import { isEngineAtWork } from '../../domain/sending/engines.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
import { channelOption, idsOption } from '../options.ts'
import { barOf, countOf, createPace, durationOf } from './progress.ts'
import { eachRecipients, type Survey, surveyRecipients } from './recipients-file.ts'

const AT_ONCE = 10_000
const LOOK_EVERY_MS = 300
const STANDSTILL_MS = 2000
const LINE_EVERY_MS = 5000
const LONGEST_NAME = 255

export async function send(call: Call) {
  const order = orderIn(call)
  const survey = await surveyRecipients(order.file)
  refuseMissingColumns(order, survey)
  const talk = createTalk(call)
  let farewell = 'Nothing was begun.'

  await withDatabase(
    call.config,
    async ({ sql }) => {
      const desk = await openDesk(sql, order, survey)
      const dispatchId = await handIn(desk, talk, id => {
        farewell = `Dispatch ${id} was not started yet: the same command goes on with it.`
      })
      await startOnce(desk, dispatchId, call.config.billingZone)
      farewell = `Dispatch ${dispatchId} goes on by itself: the same command follows it again.`
      talk.end()
      const done = await follow(desk, dispatchId, talk)
      talk.end()
      call.print(summaryOf(done), sentenceAbout(done))
    },
    { farewell: () => talk.leave(farewell) },
  )
}

type Order = {
  file: string
  companyId: number
  name: string
  text: string
  channelType: ChannelType
  senderIds: number[] | undefined
}

function orderIn(call: Call): Order {
  const { name, text } = call.options as { name: string; text: string }
  if (name.length > LONGEST_NAME) throw new UsageError(`--name must be 1 to ${LONGEST_NAME} characters.`)
  return {
    file: call.arguments[0]!,
    companyId: idOption(call, 'company'),
    name,
    text,
    channelType: channelOption(call)!,
    senderIds: idsOption(call, 'senders'),
  }
}

/** Every recipient would be refused. */
function refuseMissingColumns({ text }: Order, { columns }: Survey) {
  const missing = compileTemplate(text).names.find(name => !columns.includes(name))
  if (missing === undefined) return
  throw new UsageError(`The text wants {${missing}}, and the file has only the columns ${columns.join(', ')}.`)
}

type Desk = {
  sql: Pool
  order: Order
  survey: Survey
  partner: Partner
  numbering: Numbering
  dispatch: NewDispatch
  /** The same for the same command with the same file: by it an interrupted run is found again. */
  key: string
}

async function openDesk(sql: Pool, order: Order, survey: Survey): Promise<Desk> {
  const { partnerId } = await orAdvise(noCompany(order.companyId), requireAnyCompany(sql, order.companyId))
  const { companyId, name, text, channelType } = order
  const senderIds = order.senderIds ?? (await approvedSenders(sql, companyId, channelType))
  const words = JSON.stringify([companyId, name, text, channelType, order.senderIds ?? null, survey.digest])
  return {
    sql,
    order,
    survey,
    partner: await requirePartner(sql, partnerId),
    numbering: await loadNumbering(sql),
    dispatch: {
      name,
      channelType,
      text,
      senderIds,
      schedule: undefined,
      callbackUrl: undefined,
      callbackEvents: undefined,
    },
    key: createHash('sha256').update(words).digest('hex'),
  }
}

/** The oldest of each brand, and of those for numbers outside Russia: a dispatch takes no more. */
async function approvedSenders(sql: Pool, companyId: number, channelType: ChannelType): Promise<number[]> {
  const found = await listSenders(sql, companyId, { status: ['APPROVED'], channelType: [channelType] })
  const usable = found.filter(sender => !sender.suspended)
  if (usable.length === 0) {
    throw new UsageError(
      `Company ${companyId} has no approved sender name for ${channelType}: \`tidings sender list --company ${companyId}\` shows its names.`,
    )
  }
  const places = Map.groupBy(usable, sender => placeOf(sender))
  return [...places.values()].map(([oldest]) => oldest!.senderId)
}

const placeOf = (sender: Sender) => (isInternational(sender) ? 'INTERNATIONAL' : sender.brand)

/**
 * Brings in the recipients, 10,000 a request. The first creates the dispatch, or finds the one that an earlier run
 * created; the messages of a dispatch are in the order of the file, so their number tells which requests are missing.
 */
async function handIn(desk: Desk, talk: Talk, begun: (dispatchId: number) => void): Promise<number> {
  const { sql, order, survey, partner } = desk
  let dispatch: Dispatch | undefined
  await eachRecipients(order.file, AT_ONCE, async (recipients, first) => {
    if (!dispatch) {
      const dispatchId = await create(desk, recipients)
      begun(dispatchId)
      dispatch = await requireDispatch(sql, partner, dispatchId)
      if (dispatch.status === 'COMPLETED') {
        talk.say(`Dispatch ${dispatchId} was sent before by this command: another --name sends it again.`)
      } else if (dispatch.status !== 'CREATED' || dispatch.messageCount > recipients.length) {
        talk.say(`Going on with dispatch ${dispatchId}, which an earlier run began.`)
      }
    }
    if (first >= dispatch.messageCount) await add(desk, dispatch.dispatchId, recipients, first)
    const brought = Math.max(first + recipients.length, dispatch.messageCount)
    talk.show(`${barOf(brought, survey.recipients)} ${countOf(brought)} of ${countOf(survey.recipients)} recipients`)
  })
  return dispatch!.dispatchId
}

async function create(desk: Desk, recipients: Recipient[]): Promise<number> {
  const { sql, numbering, partner, dispatch } = desk
  const { companyId } = desk.order
  const request = { partner, companyId, dispatch, recipients, once: onceOf(desk, 'create') }
  return (await unlessBusy(createDispatch(sql, numbering, request))).dispatchId
}

async function add(desk: Desk, dispatchId: number, recipients: Recipient[], first: number) {
  const { sql, numbering, partner } = desk
  const once = onceOf(desk, `${dispatchId}/${first}`)
  await unlessBusy(addMessages(sql, numbering, { partner, dispatchId, recipients, once }))
}

const onceOf = ({ order, key }: Desk, what: string) => ({
  owner: `company:${order.companyId}`,
  key: `send/${key}/${what}`,
  request: Buffer.from(key),
})

async function unlessBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AppError && error.kind === 'in_flight') {
      throw new UsageError('The same command is already at work on this file.')
    }
    throw error
  }
}

async function startOnce({ sql, partner }: Desk, dispatchId: number, billingZone: string) {
  const { status } = await requireDispatch(sql, partner, dispatchId)
  if (status === 'COMPLETED') return
  try {
    await startDispatch(sql, partner, dispatchId, { billingZone, now: new Date() })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new UsageError(
      `Dispatch ${dispatchId} was created and cannot be started: ${error.message}. The same command tries again.`,
    )
  }
}

type Followed = Dispatch & Progress

async function follow({ sql, partner }: Desk, dispatchId: number, talk: Talk): Promise<Followed> {
  const pace = createPace()
  const watch = createEngineWatch(sql, talk)
  for (;;) {
    const now = await requireDispatchProgress(sql, partner, dispatchId)
    const { total, delivered, failed, pending } = now.messages
    if (now.status === 'COMPLETED') return now
    if (now.status === 'STOPPED') {
      throw new UsageError(`Dispatch ${dispatchId} was stopped: the same command starts it again.`)
    }
    const { perSecond, secondsLeft } = pace({ atMs: performance.now(), done: delivered + failed, left: pending })
    const left = secondsLeft === undefined ? '' : `, ${durationOf(secondsLeft)} left`
    talk.show(
      `${barOf(delivered + failed, total)} ${countOf(delivered)} delivered, ${countOf(failed)} failed, ` +
        `${countOf(pending)} pending, ${countOf(Math.round(perSecond))}/s${left}`,
    )
    await watch(delivered + failed)
    await pause(LOOK_EVERY_MS)
  }
}

/** Says once that nobody is there to send, when nothing has moved for a while. */
function createEngineWatch(sql: Pool, talk: Talk) {
  let seen = -1
  let since = 0
  let said = false
  return async (done: number) => {
    if (done !== seen) since = performance.now()
    seen = done
    if (said || performance.now() - since < STANDSTILL_MS || (await isEngineAtWork(sql))) return
    said = true
    talk.say('No engine is at work, so nothing is sent: start one with `tidings serve` or `tidings engine`.')
  }
}

type Talk = {
  /** How far it has come: one line that is written over, or where nobody is watching one every few seconds. */
  show(line: string): void
  say(sentence: string): void
  end(): void
  /** The last word: what is still in hand when a signal comes ends without one. */
  leave(sentence: string): void
}

/** All of it on stderr. With --json only sentences are said: nobody reads a bar there. */
function createTalk(call: Call): Talk {
  const isWatched = process.stderr.isTTY === true
  let hasLeft = false
  let shownAt = Number.NEGATIVE_INFINITY
  const end = () => {
    call.progress('')
    shownAt = Number.NEGATIVE_INFINITY
  }
  const say = (sentence: string) => {
    end()
    process.stderr.write(`tidings: ${sentence}\n`)
  }
  return {
    show(line) {
      if (hasLeft) return
      if (isWatched) return call.progress(line)
      if (call.switches.json || performance.now() - shownAt < LINE_EVERY_MS) return
      shownAt = performance.now()
      process.stderr.write(`${line}\n`)
    },
    say,
    end,
    leave(sentence) {
      say(sentence)
      hasLeft = true
    },
  }
}

const summaryOf = ({ dispatchId, status, messages, parts, priceEstimate, currency }: Followed) => ({
  dispatchId,
  status,
  total: messages.total,
  delivered: messages.delivered,
  failed: messages.failed,
  parts: parts.total,
  priceEstimate: { total: moneyToNumber(priceEstimate), currency },
})

const sentenceAbout = ({ dispatchId, messages: { total, delivered, failed } }: Followed) =>
  `Dispatch ${dispatchId} is COMPLETED: of ${countOf(total)} messages ${countOf(delivered)} were delivered and ${countOf(failed)} failed.`
