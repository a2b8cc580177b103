import { NoAnswer, ServerError } from './api.ts'
import type { Key, Words } from './words/words.ts'

type ProblemKey = Extract<Key, `problem.${string}`>

/** What the server says in English, and our text for it. */
const known: [RegExp, ProblemKey][] = [
  [/^version: /, 'problem.changedMeanwhile'],
  [/^order: more than \d+ companies cannot be sorted/, 'problem.tooManyToSort'],
  [/^senderName: .* is registered for /s, 'problem.nameTaken'],
  [/^senderName: .* is suspended/s, 'problem.nameSuspended'],
  [/^senderName: (.* is not approved|there is no name )/s, 'problem.nameNotApproved'],
  [/^The monthly budget of the company would be exceeded/, 'problem.budget'],
  [/^The balance of the company is too small/, 'problem.balance'],
  [/^A correction of a prepaid balance can take at most/, 'problem.notFree'],
  [/^(companyId: t|T)he company is disabled/, 'problem.companyDisabled'],
  [/^price: the dispatch costs another amount/, 'problem.priceChanged'],
  [/^Too many dispatches of the company/, 'problem.tooManyDispatches'],
  [/^Login or password is wrong/, 'problem.credentials'],
  [/^The present password is wrong/, 'problem.presentPassword'],
  [/^password: must not be empty/, 'problem.empty'],
  [/^(code: is wrong|The code is wrong)/, 'problem.code'],
  [/^(code|body\/code|.*\bcode): must/, 'problem.code'],
  [/^password: must be \d+/, 'problem.passwordLength'],
  [/^password: must not begin/, 'problem.passwordSpace'],
  [/^login: ".*" is taken/s, 'problem.loginTaken'],
  [/^login: must be/, 'problem.login'],
  [/^The last person with the role/, 'problem.lastOwner'],
  [/^The company was changed meanwhile/, 'problem.companyChanged'],
  [/^You cannot change your own role/, 'problem.ownRole'],
  [/^The budget or the way of paying was changed/, 'problem.termsChanged'],
  [/^This Idempotency-Key was used with another request/, 'problem.keyUsed'],
  [/^Somebody else changed this meanwhile/, 'problem.changedMeanwhile'],
]

/** What went wrong, for the reader. A refusal that we have no text for is shown in the server's own words. */
export function describeProblem({ say }: Words, error: unknown): string {
  if (error instanceof NoAnswer) return say('error.noAnswer')
  if (!(error instanceof ServerError)) return say('error.unknown')
  if (error.status === 429) return say('error.tooMany', { count: minutes(error.retryAfterSeconds) })
  const key = keyOf(error.message)
  if (key) return say(key)
  if (error.status === 403) return say('error.forbidden.text')
  if (error.status === 404) return say('error.gone.meanwhile')
  return error.status >= 500 ? say('error.unknown') : error.message
}

export const keyOf = (message: string): ProblemKey | undefined => known.find(([pattern]) => pattern.test(message))?.[1]

/** The server kept what somebody else had changed. */
export const isChangedMeanwhile = (error: unknown) =>
  error instanceof ServerError && keyOf(error.message) === 'problem.changedMeanwhile'

const minutes = (seconds = 60) => Math.max(1, Math.ceil(seconds / 60))
