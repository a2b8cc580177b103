import { ServerError } from '../../api.ts'
import { describeProblem } from '../../problems.ts'
import type { Key } from '../../words/dictionary.ts'
import type { Words } from '../../words/words.ts'

/**
 * Mistakes in uploaded files, explained in the reader's language with advice. The named groups of a pattern fill the
 * placeholders of its text. A test compares the patterns with the messages of the server.
 */
const known: [RegExp, Extract<Key, `mistake.${string}`>][] = [
  [/^(?<column>\w+) "(?<value>.*)" is none of (?<known>.*)$/s, 'mistake.noneOf'],
  [/^country "(?<value>.*)" is no code of two letters/s, 'mistake.country'],
  [/^only SMS has prices for countries$/, 'mistake.onlySms'],
  [/^from "(?<value>.*)" is not a count$/s, 'mistake.count'],
  [/^(?<column>\w+) "(?<value>.*)" is not an amount from 0 to (?<most>\d+)/s, 'mistake.amount'],
  [/^there are two (tariffs|prices) for (?<place>.*)$/, 'mistake.twice'],
  [/^has no steps$/, 'mistake.noSteps'],
  [/^the first step must be from 0 or 1$/, 'mistake.firstStep'],
  [/^two steps begin at the same count$/, 'mistake.sameCount'],
  [/^a FIXED tariff has one step$/, 'mistake.fixed'],
  [/^only a MAU tariff has priceMauBatch$/, 'mistake.onlyMau'],
  [/^The heading of the file has no (?<column>\w+): it must be (?<heading>.*)$/, 'mistake.heading'],
  [/^The file is not a JSON list/, 'mistake.json'],
  [/^must have 8 columns/, 'mistake.columns'],
  [/^"(?<value>.*)" is not a code of the Russian plan$/s, 'mistake.code'],
  [/^"(?<value>.*)" is not a subscriber number of 7 digits$/s, 'mistake.subscriber'],
  [/^the range ends \((?<to>.*)\) before it begins \((?<from>.*)\)$/, 'mistake.reversed'],
  [/^the range overlaps the one of line (?<other>\d+)$/, 'mistake.overlap'],
  [/^the operator has no name$/, 'mistake.operator'],
  [/^"(?<value>.*)" is not an INN/s, 'mistake.inn'],
  [/^the region is missing$/, 'mistake.region'],
  [/^must be "number;brand"$/, 'mistake.portedLine'],
  [/^"(?<value>.*)" is not a Russian number$/s, 'mistake.number'],
  [/^"(?<value>.*)" is not a brand: must be (?<known>.*)$/s, 'mistake.brand'],
  [/^(The file has no entries|sizeBytes: must be at least 1)$/, 'mistake.empty'],
  [/^The file is not made of lines$/, 'mistake.noLines'],
  [/^The file is not in UTF-8$/, 'mistake.encoding'],
  [/^The numbering plan was changed in the meantime/, 'mistake.planChanged'],
  [/^Four files wait already/, 'mistake.fourFiles'],
]

/** A mistake with its line. A mistake without a text of ours is shown in the server's words. */
export function describeMistake({ say }: Words, told: string): string {
  const [, line, number = '', what = ''] = /^((?:line|Tariff) (\d+): )?(.*?)\.?$/s.exec(told) ?? []
  const text = textOf(say, what) ?? what
  if (line === undefined) return text
  return say(line.startsWith('line') ? 'mistake.line' : 'mistake.tariff', { number, text })
}

function textOf(say: Words['say'], what: string): string | undefined {
  for (const [pattern, key] of known) {
    const found = pattern.exec(what)
    if (found) return (say as (key: Key, given: object) => string)(key, { ...found.groups })
  }
  return undefined
}

/** The reason why the server refused a file. */
export const describeFileProblem = (words: Words, error: unknown): string =>
  error instanceof ServerError && error.status === 400
    ? describeMistake(words, error.message.replace(/^The file has mistakes: /, ''))
    : describeProblem(words, error)

export const hasText = (told: string): boolean => {
  const [, what = ''] = /^(?:(?:line|Tariff) \d+: )?(.*?)\.?$/s.exec(told) ?? []
  return known.some(([pattern]) => pattern.test(what))
}
