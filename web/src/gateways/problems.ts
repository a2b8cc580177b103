import { ServerError } from '../api.ts'
import { describeProblem } from '../problems.ts'
import type { Key } from '../words/dictionary.ts'
import type { Words } from '../words/words.ts'

/** A refusal of the server, translated, with the field that it names. */
export type FieldProblem = { field: string | undefined; text: string }

type Plain = Exclude<Extract<Key, `gateway.problem.${string}`>, 'gateway.problem.range'>

const known: [RegExp, Plain][] = [
  [/is missing or no text$|must not be empty$/, 'gateway.problem.missing'],
  [/must be an http or https address$/, 'gateway.problem.address'],
  [/must not carry a user or a password$/, 'gateway.problem.addressUser'],
  [/must be a phone number, not /, 'gateway.problem.number'],
  [/^A gateway with the name /, 'gateway.problem.nameTaken'],
]

export function fieldProblemOf(words: Words, error: unknown): FieldProblem {
  if (!(error instanceof ServerError) || error.status !== 400)
    return { field: undefined, text: describeProblem(words, error) }
  const message = error.message
  return { field: fieldIn(message), text: inWords(words, message) ?? describeProblem(words, error) }
}

/**
 * Knows the forms `setting "host" is missing or no text`, `name: must not be empty` and `to must be a phone number`.
 */
function fieldIn(message: string): string | undefined {
  if (/^A gateway with the name /.test(message)) return 'name'
  return /^(?:setting "(\w+)|(name|to|sender|text):? must )/.exec(message)?.slice(1).find(Boolean)
}

function inWords({ say }: Words, message: string): string | undefined {
  const [, least, most] = / must be (-?\d+) to (-?\d+)$/.exec(message) ?? []
  if (least && most) return say('gateway.problem.range', { least, most })
  const key = known.find(([pattern]) => pattern.test(message))?.[1]
  const [, trouble, binds] =
    /^Gateway .* could not be reached: (.*?)(\. The engines may hold .*)?$/s.exec(message) ?? []
  if (trouble !== undefined) return `${troubleOf({ say }, trouble)} ${binds ? say('gateway.problem.binds') : ''}`.trim()
  return key && say(key)
}

const troubles: [RegExp, Extract<Key, `gateway.trouble.${string}`>][] = [
  [/ESME_RINVPASWD|ESME_RINVSYSID|ESME_RBINDFAIL/, 'gateway.trouble.login'],
  [/ESME_RALYBND/, 'gateway.trouble.bound'],
  [/ECONNREFUSED/, 'gateway.trouble.refused'],
  [/ENOTFOUND|EAI_AGAIN/, 'gateway.trouble.host'],
  [/ETIMEDOUT|^no .* within|^no answer/, 'gateway.trouble.silent'],
]

/** Explains why a gateway has no connection, and quotes the connector. */
export const troubleOf = ({ say }: Pick<Words, 'say'>, error: string) =>
  say(troubles.find(([pattern]) => pattern.test(error))?.[1] ?? 'gateway.why.error', { error })
