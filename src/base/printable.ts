/**
 * Characters that change how a terminal or a log viewer shows the text around them: control characters (an escape
 * sequence begins with one of them), line and paragraph separators, and the marks that reverse the direction of
 * writing.
 */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * The text with every control character written out (`\n`, `\u001b`), so that foreign text can stand in one line of a
 * terminal or of a log and cannot pretend to be anything else. Letters of every script and emoji stay as they are.
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, char => SHORT[char] ?? escaped(char))

/**
 * The same for a line of JSON with its newline at the end: the line stays the same JSON. The writer of JSON has escaped
 * the lowest control characters already; the rest stand raw in it.
 */
export const printableJsonLine = (line: string): string =>
  line.replace(UNPRINTABLE, (char, position: number) =>
    char === '\n' && position === line.length - 1 ? char : escaped(char),
  )

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
