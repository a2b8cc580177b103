import { isHttpUrl } from './http-url.ts'

/**
 * The words of a content: what its subscriber reads, and the addresses and numbers behind buttons. Pictures, kinds, the
 * names of templates and an app's own data are none.
 */
export type WordRule = { least: number; most: number; isAddress?: true }

const word = (most: number): WordRule => ({ least: 1, most })
const address: WordRule = { least: 1, most: 2048, isAddress: true }

/** Where words stand in the contents of all channels, and how many characters each may have. */
export const wordRules = {
  text: word(Number.POSITIVE_INFINITY), // as many as its channel takes, see `channel-text.ts`
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

/** The same content with its words changed; their paths are like `buttons[0].url`. Takes anything that was submitted. */
export const changeWords = <T>(content: T, change: Change): T => changeAt(content, wordRules, '', change) as T

type Place = WordRule | [Place] | { [name: string]: Place }

/** Goes as deep as the rules do, however deep the value is. */
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

/** Whether a word may stand where the rule holds. Characters are counted as Unicode does. */
export function fitsRule(text: string, { least, most, isAddress }: WordRule): boolean {
  if (text.length < least || text.length > mostUnits(most)) return false
  if (text.length > most && [...text].length > most) return false
  return !isAddress || isHttpUrl(text)
}

/** In UTF-16, as the length of a string is counted. */
export const mostUnits = (characters: number) => characters * 2
