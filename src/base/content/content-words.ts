import { isHttpUrl } from '../network/http-url.ts'

/**
 * The words of a content are the texts that its subscriber reads, and the addresses and numbers behind buttons.
 * Pictures, kinds, names of templates and data of an app are not words.
 */
export type WordRule = { least: number; most: number; isAddress?: true }

const word = (most: number): WordRule => ({ least: 1, most })
const address: WordRule = { least: 1, most: 2048, isAddress: true }

/** The places of words in the contents of all channels, with the most characters of each. */
export const wordRules = {
  text: word(Number.POSITIVE_INFINITY), // limited by the channel, see `channel-text.ts`
  title: word(200),
  url: address,
  code: word(15),
  parameters: [{ least: 0, most: 1024 }] as [WordRule],
  button: { text: word(30), url: address },
  header: { text: word(60) },
  footer: { text: word(60) },
  buttons: [{ text: word(25), url: address, phone: word(20) }] as [Record<'text' | 'url' | 'phone', WordRule>],
}

type Change = (word: string, path: string, rule: WordRule) => string

/** Returns the content with its words changed. Paths look like `buttons[0].url`. Accepts any value of a request. */
export const changeWords = <T>(content: T, change: Change): T => changeAt(content, wordRules, '', change) as T

type Place = WordRule | [Place] | { [name: string]: Place }

/** Descends only as deep as the rules, because the value may be much deeper. */
function changeAt(value: unknown, place: Place, path: string, change: Change): unknown {
  if (isRule(place)) return typeof value === 'string' ? change(value, path, place) : value
  if (Array.isArray(place)) {
    return Array.isArray(value) ? value.map((item, i) => changeAt(item, place[0], `${path}[${i}]`, change)) : value
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const changed: Record<string, unknown> = { ...value }
  for (const [name, inner] of Object.entries(place)) {
    if (Object.hasOwn(changed, name)) {
      changed[name] = changeAt(changed[name], inner, path ? `${path}.${name}` : name, change)
    }
  }
  return changed
}

const isRule = (place: Place): place is WordRule => 'most' in place && typeof place.most === 'number'

/** Whether a word fulfils the rule of its place. Counts Unicode characters. */
export function fitsRule(text: string, { least, most, isAddress }: WordRule): boolean {
  if (text.length < least || text.length > mostUnits(most)) return false
  if (text.length > most && [...text].length > most) return false
  return !isAddress || isHttpUrl(text)
}

/** In UTF-16 units, like the length of a string. */
export const mostUnits = (characters: number) => characters * 2
