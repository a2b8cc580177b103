import { AppError, UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import { createDispatch } from '../../domain/dispatches/creating.ts'
import type { Dispatch, Recipient } from '../../domain/dispatches/dispatch.ts'
import { startDispatch } from '../../domain/dispatches/lifecycle.ts'
import { requireDispatch } from '../../domain/dispatches/reading.ts'
import { addMessages } from '../../domain/dispatches/writing.ts'
import { answerBefore } from '../../domain/idempotency/idempotency.ts'
import { recorded } from '../recorded.ts'
import type { Job } from './order.ts'
import { barOf, countOf } from './progress.ts'
import { eachRecipients, recipientsIn } from './recipients-file.ts'
import type { Talk } from './talk.ts'

const AT_ONCE = 10_000

/** The dispatch that an earlier run of the same command made of the same file. */
export async function earlierDispatch(job: Job): Promise<Dispatch | undefined> {
  const answer = await answerBefore<{ dispatchId: number }>(job.sql, onceOf(job, 'create'))
  return answer && requireDispatch(job.sql, job.partner, answer.dispatchId)
}

/**
 * Adds the recipients, 10,000 in each request. The first request creates the dispatch, or finds the dispatch of an
 * earlier run. The messages of a dispatch have the order of the file, so their number shows which requests are missing.
 */
export async function handIn(job: Job, talk: Talk, begun: (dispatchId: number) => void): Promise<number> {
  const { sql, order, file, partner } = job
  const total = recipientsIn(file, order.isUnique)
  let dispatch: Dispatch | undefined
  await eachRecipients(file, { atOnce: AT_ONCE, unique: order.isUnique }, async (rows, first) => {
    const recipients = rows.map(({ recipient }) => recipient)
    if (!dispatch) {
      const dispatchId = await create(job, recipients)
      begun(dispatchId)
      dispatch = await requireDispatch(sql, partner, dispatchId)
    }
    if (first >= dispatch.messageCount) await add(job, dispatch.dispatchId, recipients, first)
    const brought = Math.max(first + recipients.length, dispatch.messageCount)
    talk.show(`${barOf(brought, total)} ${countOf(brought)} of ${countOf(total)} recipients`)
  })
  return dispatch!.dispatchId
}

async function create(job: Job, recipients: Recipient[]): Promise<number> {
  const { sql, numbering, partner, dispatch } = job
  const { companyId } = job.order
  const request = { partner, companyId, dispatch, recipients, once: onceOf(job, 'create') }
  const created = recorded(sql, async (tx, record) => {
    const isNew = !(await answerBefore(tx, request.once)) // else an earlier run has created it
    const { dispatchId } = await createDispatch(tx, numbering, request)
    const after = { name: dispatch.name, channel: dispatch.channelType }
    await record(isNew ? { what: 'dispatch.created', ...subjectOf(job, dispatchId), after } : undefined)
    return dispatchId
  })
  return unlessBusy(created)
}

async function add(job: Job, dispatchId: number, recipients: Recipient[], first: number) {
  const { sql, numbering, partner } = job
  const once = onceOf(job, `${dispatchId}/${first}`)
  await unlessBusy(addMessages(sql, numbering, { partner, dispatchId, recipients, once }))
}

const onceOf = ({ order, key }: Job, what: string) => ({
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

const subjectOf = ({ order, dispatch }: Job, dispatchId: number) => ({
  subject: { kind: 'dispatch', id: dispatchId, name: dispatch.name ?? '' },
  companyId: order.companyId,
})

export async function startOnce(job: Job, dispatchId: number, billingZone: string) {
  const { sql, partner } = job
  const { status } = await requireDispatch(sql, partner, dispatchId)
  if (status === 'COMPLETED') return
  try {
    await recorded(sql, async (tx, record) => {
      await startDispatch(tx, partner, dispatchId, { billingZone, now: await databaseNow(tx) })
      const statuses = { before: { status }, after: { status: 'STARTED' } }
      await record({ what: 'dispatch.started', ...subjectOf(job, dispatchId), ...statuses })
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new UsageError(
      `Dispatch ${dispatchId} was created and cannot be started: ${error.message}. The same command tries again.`,
    )
  }
}
