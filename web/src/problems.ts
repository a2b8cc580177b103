import { NoAnswer, ServerError } from './api.ts'
import type { Key } from './words/dictionary.ts'
import type { Words } from './words/words.ts'

type ProblemKey = Extract<Key, `problem.${string}`>

/** Messages of the server, and their translations. */
const known: [RegExp, ProblemKey][] = [
  [/^version: /, 'problem.changedMeanwhile'],
  [/^order: more than \d+ companies cannot be sorted/, 'problem.tooManyToSort'],
  [/^senderName: .* is registered for /s, 'problem.nameTaken'],
  [/^senderName: .* is suspended/s, 'problem.nameSuspended'],
  [/^senderName: (.* is not approved|there is no name )/s, 'problem.nameNotApproved'],
  [/^senderIds\[\d+\]: sender \d+ .* is suspended/s, 'problem.nameSuspended'],
  [/^senderIds\[\d+\]: sender \d+ .* is (REJECTED|DENIED|CLOSED)/s, 'problem.nameNotApproved'],
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
  [/^(login: ".*" is taken|A partner with the login )/s, 'problem.loginTaken'],
  [/^login: must be/, 'problem.login'],
  [/^The last person with the role/, 'problem.lastOwner'],
  [/^The company was changed meanwhile/, 'problem.companyChanged'],
  [/^You cannot change your own role/, 'problem.ownRole'],
  [/^The budget or the way of paying was changed/, 'problem.termsChanged'],
  [/^This Idempotency-Key was used with another request/, 'problem.keyUsed'],
  [
    /^(Somebody (else )?changed |The numbering plan was changed in the meantime|The second factor is (on already|off)|\w+: cannot be changed while the |(Sender|Template) \d+ is \w+ and cannot be )/,
    'problem.changedMeanwhile',
  ],
  [/^(number: is not a telephone number|msisdn: must be a phone|destination: is no valid number)/, 'problem.noNumber'],
  [/^destination: is no mobile number/, 'problem.noMobile'],
  [/^destination: numbers of .* are not served/, 'problem.countryNotServed'],
  [/^The search takes too long/, 'problem.searchTooLong'],
  [/^from: must (not be (later than|after) to|be at most \d+ days before to)/, 'problem.period'],
  [/^from: must (be a day from tomorrow on|not be in the past)/, 'problem.dayFromTomorrow'],
  [/^dateTo: must not be /, 'problem.dayPast'],
  [/^The (price|tariff) is the same as before/, 'problem.samePrice'],
  [
    /^(There is no tariff that could end|This tariff was taken back already|No change of this price is planned)/,
    'problem.tariffGone',
  ],
  [/^This tariff holds already/, 'problem.tariffHolds'],
  [/^Without this tariff there would be no price/, 'problem.tariffNeeded'],
  [/^Only a country can lose its price/, 'problem.countryOnly'],
  [/^These prices are the same for every partner/, 'problem.generalPrices'],
  [/^(There are \d+ keys already|(A company has|There can be) at most \d+ )/, 'problem.limit'],
  [/^documentIds: a document is required/, 'problem.documentNeeded'],
  [/^brands: at least one operator/, 'problem.operatorNeeded'],
  [/^A request for a sender name has this document/, 'problem.documentUsed'],
  [/^file: is (empty|required)/, 'problem.fileEmpty'],
  [/^file: must be a PDF, JPG or PNG/, 'problem.fileKind'],
  [/^(file: must be at most|The file is larger than|The (request body|form) is larger than)/, 'problem.tooLarge'],
  [/^Four files wait already/, 'problem.filesWait'],
  [/^The file has not arrived yet/, 'problem.fileNotThere'],
  [/^counteragentInn: /, 'problem.inn'],
  [/^The dispatch (is \w+|was stopped for good)/, 'problem.dispatchMoved'],
  [/^A dispatch by cascade cannot be sent again/, 'problem.cascadeAgain'],
  [/^More than \d+ messages failed/, 'problem.tooManyAgain'],
  [/^No message of the dispatch can be sent again/, 'problem.nothingAgain'],
  [/^About \d+ receipts of this gateway are outstanding/, 'problem.drainFirst'],
  [/^The operator did not answer within/, 'problem.operatorSilent'],
  [/^(callbackUrl|url): must be an http or https address/, 'problem.address'],
  [/^The company has no sender name /, 'problem.nameOfCompany'],
  [/^senderName(Id)?: (the sender name is |is a name of )/, 'problem.templateName'],
]

/** Describes an error for the reader. A refusal without a translation is quoted as the server wrote it. */
export function describeProblem({ say }: Words, error: unknown): string {
  if (error instanceof NoAnswer) return say('error.noAnswer')
  if (!(error instanceof ServerError)) return say('error.unknown')
  if (error.status === 429) return say('error.tooMany', { count: minutes(error.retryAfterSeconds) })
  return describeRefusal({ say }, error)
}

export function describeRefusal({ say }: Pick<Words, 'say'>, { status, message }: { status: number; message: string }) {
  const key = keyOf(message)
  if (key) return say(key)
  if (status === 403) return say('error.forbidden.text')
  if (status === 404) return say('error.gone.meanwhile')
  return status >= 500 ? say('error.unknown') : say('error.refused', { message })
}

export const keyOf = (message: string): ProblemKey | undefined => known.find(([pattern]) => pattern.test(message))?.[1]

/** The server refused to overwrite a change of another person. */
export const isChangedMeanwhile = (error: unknown) =>
  error instanceof ServerError && keyOf(error.message) === 'problem.changedMeanwhile'

const minutes = (seconds = 60) => Math.max(1, Math.ceil(seconds / 60))
