import type { Dispatch } from '../../domain/dispatches/dispatch.ts'
import { refusalOf } from '../../domain/ledger/ledger.ts'
import { type Call, withDatabase } from '../command.ts'
import { concludeDispatch, follow } from './follow.ts'
import { earlierDispatch, handIn, startOnce } from './hand-in.ts'
import { type Job, orderIn, prepareJob, refuseMissingColumns } from './order.ts'
import { openRecipients } from './recipients-file.ts'
import { confirmReview, presentReview, reviewInWords, reviewRecipients } from './review.ts'
import { createTalk, type Talk } from './talk.ts'

export async function send(call: Call) {
  const order = orderIn(call)
  const file = await openRecipients(order.path, order.column)
  refuseMissingColumns(order, file)
  const talk = createTalk(call)
  let farewell = 'Nothing was sent.'

  await withDatabase(
    call.config,
    async ({ sql }) => {
      const job = await prepareJob(sql, order, file)
      if (order.isDryRun) return printReview(call, job, talk)
      await agree(call, job, talk)
      const dispatchId = await handIn(job, talk, id => {
        farewell = `Dispatch ${id} was not started yet: the same command goes on with it.`
      })
      await startOnce(job, dispatchId, call.config.billingZone)
      farewell = `Dispatch ${dispatchId} goes on by itself: the same command follows it again.`
      talk.end()
      const { value, text } = await concludeDispatch(job, await follow(job, dispatchId, talk))
      talk.end()
      call.print(value, text)
    },
    { farewell: () => talk.leave(farewell) },
  )
}

async function printReview(call: Call, job: Job, talk: Talk) {
  const review = await reviewRecipients(job, call.config.billingZone, talk)
  const refusal = refusalOf(review.account, review.price)
  const end = refusal ? `${refusal}: without --dry-run nothing would be sent.` : 'Nothing was sent: this was a dry run.'
  call.print({ ...presentReview(job, review), refusal: refusal ?? null }, `${reviewInWords(job, review)}\n${end}`)
  if (review.accepted === 0 || refusal) process.exitCode = 1
}

/** A run that was interrupted has been agreed to already; everything else is shown, and asked about, first. */
async function agree(call: Call, job: Job, talk: Talk) {
  const earlier = await earlierDispatch(job)
  if (earlier) return talk.say(sentenceAboutEarlier(earlier))
  const review = await reviewRecipients(job, call.config.billingZone, talk)
  talk.tell(reviewInWords(job, review))
  await confirmReview(job, review)
}

const sentenceAboutEarlier = ({ dispatchId, status }: Dispatch) =>
  status === 'COMPLETED'
    ? `Dispatch ${dispatchId} was sent before by this command: another --name sends it again.`
    : `Going on with dispatch ${dispatchId}, which an earlier run began.`
