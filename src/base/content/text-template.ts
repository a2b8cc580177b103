/**
 * Texts with placeholders: `{name}`, where a name is a letter or `_`, then letters, digits or `_`, of any script.
 * Anything else in braces is plain text.
 */
export type Substitutions = Record<string, string | number | boolean | null>

export interface TextTemplate {
  /** The placeholders, each once, in the order of their first appearance. */
  readonly names: string[]
  /**
   * The text with every placeholder filled in; undefined when a placeholder has no substitution. When the text exceeds
   * `most`, rendering stops and returns the longer text, because the caller refuses it.
   */
  render(substitutions: Substitutions | undefined, most?: number): string | undefined
}

const BEGINS_LIKE_A_NAME = /^[\p{L}_]/u

/**
 * Combining marks may follow the first letter: the vowel signs of हिन्दी and the accent of a decomposed é are marks in
 * Unicode and letters for people. Names are compared without normalisation.
 */
const NOT_IN_A_NAME = /[^\p{L}\p{M}\p{Nd}_]/u

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

/** Compiled once for a request, rendered for each of its recipients. */
export function compileTemplate(text: string): TextTemplate {
  const { literals, placeholders } = parse(text)
  return {
    names: [...new Set(placeholders)],
    render: (substitutions = {}, most = Number.POSITIVE_INFINITY) =>
      fillIn(literals, placeholders, substitutions, most),
  }
}

/** The literals around the placeholders. There is always one literal more than placeholders. */
interface Pieces {
  literals: string[]
  placeholders: string[]
}

/**
 * Reads each character once. The obvious `/\{([\p{L}_][\p{L}\p{M}\p{Nd}_]*)\}/gu` overflows its stack on an opening
 * brace before 8 million Cyrillic letters, which fit into a request.
 */
function parse(text: string): Pieces {
  const pieces: Pieces = { literals: [], placeholders: [] }
  let literalStart = 0
  let open = -1
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === OPENING) open = i // no name contains a brace, so only the last one before a closing brace counts
    if (unit !== CLOSING || open < 0) continue

    const name = text.slice(open + 1, i)
    if (isName(name)) {
      pieces.literals.push(text.slice(literalStart, open))
      pieces.placeholders.push(name)
      literalStart = i + 1
    }
    open = -1
  }
  pieces.literals.push(text.slice(literalStart))
  return pieces
}

function isName(text: string): boolean {
  return BEGINS_LIKE_A_NAME.test(text) && !NOT_IN_A_NAME.test(text)
}

/**
 * Values are inserted unchanged: a brace inside a value is text. Otherwise a recipient's name could use another
 * substitution.
 */
function fillIn(
  literals: string[],
  placeholders: string[],
  substitutions: Substitutions,
  most: number,
): string | undefined {
  let text = literals[0]!
  for (let i = 0; i < placeholders.length && text.length <= most; i++) {
    const value = substitutionFor(placeholders[i]!, substitutions)
    if (value === undefined) return undefined
    text += value + literals[i + 1]!
  }
  return text
}

/** Own properties only: `{constructor}` must not find an inherited property. Null counts as absent. */
function substitutionFor(name: string, substitutions: Substitutions): string | undefined {
  if (!Object.hasOwn(substitutions, name)) return undefined
  const value = substitutions[name]
  return value === null || value === undefined ? undefined : String(value)
}
