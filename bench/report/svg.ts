/** Colours of the cabinet (web/src/look/tokens.css), with the background, so that a chart is readable on any page. */
export type Theme = {
  background: string
  line: string
  text: string
  muted: string
  accent: string
  sky: string
  green: string
  red: string
  grey: string
  greyLight: string
  /** Text on each fill. */
  onFill: Record<string, string>
}

const lightFills = { accent: '#3450d6', sky: '#7cc0e8', green: '#3fa877', grey: '#8d929d', greyLight: '#c9ccd4' }
const darkFills = { accent: '#647df0', sky: '#3c82ad', green: '#3a9a6d', grey: '#8d929d', greyLight: '#555964' }

export const themes: Record<'light' | 'dark', Theme> = {
  light: {
    background: '#ffffff',
    line: '#ebebee',
    text: '#16171b',
    muted: '#696d78',
    red: '#e0626c',
    ...lightFills,
    onFill: {
      [lightFills.accent]: '#ffffff',
      [lightFills.sky]: '#16171b',
      [lightFills.green]: '#16171b',
      [lightFills.grey]: '#16171b',
      [lightFills.greyLight]: '#16171b',
    },
  },
  dark: {
    background: '#111215',
    line: '#24262c',
    text: '#eeeff1',
    muted: '#8d929d',
    red: '#d35f69',
    ...darkFills,
    onFill: {
      [darkFills.accent]: '#111215',
      [darkFills.sky]: '#ffffff',
      [darkFills.green]: '#111215',
      [darkFills.grey]: '#111215',
      [darkFills.greyLight]: '#ffffff',
    },
  },
}

export const WIDTH = 720
export const PADDING = 24
const FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
/** A little wider than the mean character of the fonts above. */
const CHARACTER_WIDTH = 0.58

export const widthOf = (text: string, size: number): number => text.length * size * CHARACTER_WIDTH

type TextStyle = { size?: number; fill: string; anchor?: 'start' | 'middle' | 'end'; weight?: 400 | 600 }

export function textAt(
  x: number,
  y: number,
  text: string,
  { size = 13, fill, anchor = 'start', weight = 400 }: TextStyle,
) {
  const style = `font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}"`
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${escapeXml(text)}</text>`
}

export const rectAt = (x: number, y: number, width: number, height: number, fill: string, radius = 0) =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}" fill="${fill}"/>`

export const lineAt = (x1: number, y1: number, x2: number, y2: number, stroke: string) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}"/>`

/** A whole picture with a background and a border. `about` is read aloud instead of the picture. */
export function picture(theme: Theme, height: number, about: string, parts: string[]): string {
  const border = `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${round(height) - 1}" rx="8" fill="${theme.background}" stroke="${theme.line}"/>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${round(height)}" viewBox="0 0 ${WIDTH} ${round(height)}" role="img" font-family="${FONT}" style="font-variant-numeric: tabular-nums">`,
    `<title>${escapeXml(about)}</title>`,
    border,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

const round = (value: number) => Math.round(value * 10) / 10

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeXml = (text: string): string => text.replaceAll(/[&<>"]/g, sign => entities[sign] ?? sign)
