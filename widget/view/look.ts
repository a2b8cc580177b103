import type { Look } from '../api.ts'

const OUR_LINK = '#1d56ad'
const LEAST_CONTRAST = 4.5

/** The CSS variables of a look. Undefined removes a variable. Variables of the page override them. */
export function variablesOf({ accent, accentDark, radiusPixels }: Look): Record<string, string | undefined> {
  const inDark = accentDark ?? accent
  return {
    '--look-accent': accent ?? undefined,
    '--look-on-accent': accent ? textOn(accent) : undefined,
    // Links keep our colour if the accent is too light for text on white.
    '--look-link': accent && contrast(accent, '#ffffff') < LEAST_CONTRAST ? OUR_LINK : undefined,
    '--look-accent-dark': inDark ?? undefined,
    '--look-on-accent-dark': inDark ? textOn(inDark) : undefined,
    '--look-radius': radiusPixels === null ? undefined : `${radiusPixels}px`,
  }
}

/** White or black: one of them has a contrast of 4.5 or more to any colour. */
export const textOn = (colour: string): string =>
  contrast(colour, '#ffffff') >= contrast(colour, '#000000') ? '#ffffff' : '#000000'

/** The contrast ratio of WCAG, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [first, second] = [luminance(one), luminance(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

function luminance(colour: string): number {
  return 0.2126 * linear(colour, 1) + 0.7152 * linear(colour, 3) + 0.0722 * linear(colour, 5)
}

/** The linear value of the part of a colour that begins at this character. */
function linear(colour: string, at: number): number {
  const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}
