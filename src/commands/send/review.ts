import { compileTemplate } from '../../base/content/text-template.ts'
import { UsageError } from '../../base/errors.ts'
import { type Money, money, moneyToNumber } from '../../base/money.ts'
import { printable } from '../../base/printable.ts'
import type { Recipient } from '../../domain/dispatches/dispatch.ts'
import { type DryRun, prepareDryRun } from '../../domain/dispatches/dry-run.ts'
import type { RecipientResult } from '../../domain/dispatches/writing.ts'
import { type Account, monthOf } from '../../domain/ledger/account.ts'
import { accountOf, refusalOf } from '../../domain/ledger/ledger.ts'
import { shownAmount } from '../money.ts'
import { reasonOf } from '../reasons.ts'
import { confirm } from '../terminal.ts'
import type { Job } from './order.ts'
import { barOf, countOf } from './progress.ts'
import { eachRecipients, type RecipientRow, recipientsIn } from './recipients-file.ts'
import { createRejectedFile, type RejectedFile } from './rejected-file.ts'
import type { Talk } from './talk.ts'

/** What would become of a file: everything that a person wants to know before it is sent. */
export type Review = {
  recipients: number
  accepted: number
  parts: number
  price: Money
  currency: string
  rejected: Map<number, number>
  rejectedPath: string | undefined
  account: Account
  example: { destination: string; text: string } | undefined
}

const AT_ONCE = 10_000

/** Judges every row as the dispatch would, and stores nothing but the file of rejected rows. */
export async function reviewRecipients(job: Job, billingZone: string, talk: Talk): Promise<Review> {
  const { order, file } = job
  const rejectedFile = createRejectedFile(order.rejectedPath, file)
  const review = await emptyReview(job, billingZone)
  const total = recipientsIn(file, order.isUnique)
  let trial: DryRun | undefined
  try {
    await eachRecipients(file, { atOnce: AT_ONCE, unique: order.isUnique }, async rows => {
      trial ??= await openTrial(job, rows[0]!.recipient)
      const answers: RecipientResult[] = []
      const { success, parts, estimate } = await trial(recipientsOf(rows), answers)
      review.recipients += rows.length
      review.accepted += success
      review.parts += parts
      review.price += money(estimate)
      review.example ??= exampleOf(job, rows, answers)
      await keepRejected(review, rejectedFile, rows, answers)
      talk.show(`${barOf(review.recipients, total)} ${countOf(review.recipients)} of ${countOf(total)} rows checked`)
    })
    review.rejectedPath = await rejectedFile.finish()
    talk.end()
    return review
  } catch (error) {
    await rejectedFile.discard()
    throw error
  }
}

async function emptyReview({ sql, order }: Job, billingZone: string): Promise<Review> {
  const account = await accountOf(sql, order.companyId, monthOf(new Date(), billingZone))
  const { currency } = account
  const nothing = { recipients: 0, accepted: 0, parts: 0, price: 0n, rejected: new Map(), rejectedPath: undefined }
  return { ...nothing, currency, account, example: undefined }
}

const openTrial = ({ sql, numbering, partner, order, dispatch }: Job, firstRecipient: Recipient) =>
  prepareDryRun(sql, numbering, { partner, companyId: order.companyId, dispatch, firstRecipient })

const recipientsOf = (rows: RecipientRow[]) => rows.map(({ recipient }) => recipient)

function exampleOf({ order }: Job, rows: RecipientRow[], answers: RecipientResult[]): Review['example'] {
  const place = answers.findIndex(({ errorCode }) => errorCode === null)
  const [row, answer] = [rows[place], answers[place]]
  if (!row || !answer) return undefined
  const text = compileTemplate(order.text).render(row.recipient.substitutions, Number.POSITIVE_INFINITY)
  return text === undefined ? undefined : { destination: answer.destination, text }
}

async function keepRejected(review: Review, file: RejectedFile, rows: RecipientRow[], answers: RecipientResult[]) {
  for (const [place, { errorCode }] of answers.entries()) {
    const row = rows[place]
    if (errorCode === null || !row) continue
    review.rejected.set(errorCode, (review.rejected.get(errorCode) ?? 0) + 1)
    await file.add(row.fields, errorCode, reasonOf(errorCode))
  }
}

/** Refuses what could not be sent, and asks a person about the rest. */
export async function confirmReview(job: Job, review: Review): Promise<void> {
  refuseNothingAccepted(review)
  const refusal = refusalOf(review.account, review.price)
  if (refusal) throw new UsageError(`${refusal}: nothing was sent.`)
  if (job.order.isConfirmed) return
  const price = shownAmount(review.price, review.currency)
  const isWanted = await confirm(`Send ${countOf(review.accepted)} messages for at most ${price}?`)
  if (!isWanted) throw new UsageError('Nothing was sent.')
}

function refuseNothingAccepted({ accepted, rejected, rejectedPath }: Review) {
  if (accepted > 0) return
  const reasons = [...rejected].map(([errorCode, count]) => `${countOf(count)} x "${reasonOf(errorCode)}"`)
  const where = rejectedPath ? `; the rows are in ${rejectedPath}` : ''
  throw new UsageError(`No recipient was accepted and nothing was sent: ${reasons.join(', ')}${where}.`)
}

export function reviewInWords({ file, order }: Job, review: Review): string {
  const { account, price, currency } = review
  const separator = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }[file.separator]
  const lines: [string, string][] = [
    ['File', `${file.path}: ${countOf(file.rows)} rows in ${file.encoding}, separated by ${separator}`],
    ['Numbers', `in the column "${file.columns[file.numberColumn]}"`],
    ['Accepted', `${countOf(review.accepted)} recipients, ${countOf(review.parts)} parts`],
    ['Rejected', countOf(review.recipients - review.accepted)],
    ...[...review.rejected].map(([code, count]): [string, string] => [
      '',
      `${countOf(count)} x ${code} ${reasonOf(code)}`,
    ]),
    ...lineIf(review.rejectedPath, path => ['', `their rows are in ${path}`]),
    ['Duplicates', duplicatesInWords(file.duplicates.count, order.isUnique)],
    ['Price', `at most ${shownAmount(price, currency)}`],
    ['Balance', balanceInWords(account)],
    ...lineIf(review.example, ({ destination, text }) => ['First text', `to ${destination}: ${text}`]),
  ]
  return lines.map(([name, text]) => `${name.padEnd(12)}${printable(text)}`.trimEnd()).join('\n')
}

/** The line of a value, or no line without it. */
const lineIf = <T>(value: T | undefined, lineOf: (value: T) => [string, string]): [string, string][] =>
  value === undefined ? [] : [lineOf(value)]

function duplicatesInWords(count: number, isUnique: boolean): string {
  if (count === 0) return 'none'
  const rows = count === 1 ? '1 row repeats a number' : `${countOf(count)} rows repeat a number`
  return isUnique ? `${rows}: left out` : `${rows}: --unique leaves out such rows`
}

function balanceInWords({ balance, reserved, spent, budget, billing, currency }: Account): string {
  const free = budget === null ? [] : [`${shownAmount(budget - spent - reserved, currency)} of the monthly budget left`]
  const held = reserved > 0n ? [`${shownAmount(reserved, currency)} of it reserved`] : []
  return [`${shownAmount(balance, currency)} (${billing})`, ...held, ...free].join(', ')
}

export const presentReview = ({ file }: Job, review: Review) => ({
  rows: file.rows,
  encoding: file.encoding,
  column: file.columns[file.numberColumn],
  recipients: review.recipients,
  accepted: review.accepted,
  parts: review.parts,
  rejected: [...review.rejected].map(([errorCode, count]) => ({ errorCode, reason: reasonOf(errorCode), count })),
  rejectedFile: review.rejectedPath ?? null,
  duplicates: file.duplicates.count,
  price: { total: moneyToNumber(review.price), currency: review.currency },
  balance: { value: moneyToNumber(review.account.balance), currency: review.currency },
})
