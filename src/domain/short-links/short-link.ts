import { randomBytes } from 'node:crypto'

/** A link in the text of one message, and its code. */
export type ShortLink = { code: string; messageUuid: string; url: string }

/**
 * Ten characters of 62: among a hundred million links one guess in eight billion hits. Links lead to orders, tickets and
 * forms of one person, so guessing must not pay.
 */
export const CODE_LENGTH = 10
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function randomCode(): string {
  let code = ''
  while (code.length < CODE_LENGTH) {
    for (const byte of randomBytes(CODE_LENGTH)) code += ALPHABET[byte & 63] ?? '' // 62 and 63 are drawn again
  }
  return code.slice(0, CODE_LENGTH)
}

/** Whether a text may be a code. An older or newer version may have made codes of another length. */
export const isCode = (text: string) => /^[0-9A-Za-z]{7,32}$/.test(text)

export const shortUrlOf = (base: string, code: string) => `${base}/${code}`

/**
 * The text with short links instead of its links, and the link of each code. The same link gets the same code in one
 * text. A link that is already short stays. The text around the links does not change.
 */
export function shortenLinks(
  text: string,
  makeCode: (url: string) => string,
  base: string,
): { text: string; links: { code: string; url: string }[] } {
  const codes = new Map<string, string>()
  let short = ''
  let end = 0
  for (const { at, url } of linksIn(text)) {
    if (url.startsWith(`${base}/`)) continue
    const code = codes.get(url) ?? makeCode(url)
    codes.set(url, code)
    short += text.slice(end, at) + shortUrlOf(base, code)
    end = at + url.length
  }
  return { text: short + text.slice(end), links: [...codes].map(([url, code]) => ({ code, url })) }
}

/** Behind one of these characters `http` is the end of another scheme, or of a word. */
const SCHEME = /(?<![a-z0-9+.-])https?:\/\//gi
const HOST = /[^/?#]*/y

/**
 * The links of a text with their places. The host is checked first, and the end of a link is searched only after a valid
 * host, so that every text is read once, even with many beginnings of links.
 */
export function linksIn(text: string): { at: number; url: string }[] {
  const links: { at: number; url: string }[] = []
  SCHEME.lastIndex = 0
  for (let scheme = SCHEME.exec(text); scheme; scheme = SCHEME.exec(text)) {
    const at = scheme.index
    const start = at + scheme[0].length
    if (!URL.canParse(text.slice(at, endOfLink(text, start, endOfHost(text, start))))) continue

    const end = endOfLink(text, start, text.length)
    const url = text.slice(at, end)
    if (URL.canParse(url)) links.push({ at, url }) // a bracket in the host makes it none: http://0[/a
    SCHEME.lastIndex = end
  }
  return links
}

function endOfHost(text: string, start: number): number {
  HOST.lastIndex = start
  return start + HOST.exec(text)![0].length
}

/** Quotation marks and the full stops of scripts without spaces. */
const ENDING = new Set('<>"`«»“”„‹›，。、！？；：（）「」『』【】《》')
const opening: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/**
 * Up to white space or a quotation mark, to the bracket that was opened before the link, as in
 * `(see http://example.com/a_(b))`, or to the next link of a list without spaces.
 */
function endOfLink(text: string, start: number, most: number): number {
  const open: Record<string, number> = { '(': 0, '[': 0, '{': 0 }
  let end = start
  for (; end < most; end++) {
    const char = text[end]!
    if (ENDING.has(char) || isSpace(char) || isNextLink(text, end)) break
    if (char in open) open[char]!++
    if (char in opening && --open[opening[char]!]! < 0) break
  }
  return withoutPunctuation(text, start, end)
}

const isSpace = (char: string) => /\s/.test(char)

const NEXT_LINK = /[,;|]https?:\/\//iy

/** A link within another one follows `=` or `/`. */
function isNextLink(text: string, at: number): boolean {
  NEXT_LINK.lastIndex = at
  return NEXT_LINK.test(text)
}

const TRAILING = new Set(".,:;!?…'’‘*|([{")

/** Punctuation at the end of a sentence is not part of the link. An opening bracket belongs to the text after the link. */
function withoutPunctuation(text: string, start: number, end: number): number {
  let last = end
  while (last > start && TRAILING.has(text[last - 1]!)) last--
  return last
}
