import type { Command, Option } from './command.ts'

/** The output of `--help`. Lines are broken at the given width; without a width they stay whole, for programs. */

export function overviewOf(commands: Command[], width?: number): string {
  const left = Math.max(...commands.map(({ name }) => name.length)) + 2
  const groups = Map.groupBy(commands, ({ group }) => group)
  return [
    'tidings: a bulk messaging service',
    '',
    'Usage: tidings COMMAND [OPTIONS]',
    ...[...groups].flatMap(([title, members]) => [
      '',
      ...(title && groups.size > 1 ? [`${title}:`] : []),
      ...members.map(({ name, about }) => row(name, about, left, width)),
    ]),
    '',
    ...wrapped(
      'Every command takes --help and --json; `tidings help COMMAND` is the same, and `tidings --version` prints the version. Settings come from the environment and from a file .env: `tidings config` shows them. To begin, run `tidings serve` and follow the lines that it prints.',
      width ?? 118,
    ),
  ].join('\n')
}

export function helpOf(command: Command, width?: number): string {
  const options = { ...command.options, json: { about: 'Print JSON' }, help: { about: 'Print this help' } }
  const positional = command.arguments ?? []
  const rows = [
    ...positional.map(({ name, about }) => ({ name, about })),
    ...shownOptions(options).map(([name, option]) => ({
      name: `--${name}${option.value ? ` ${option.value}` : ''}`,
      about: option.about + notesOn(option),
    })),
  ]
  const left = Math.max(...rows.map(({ name }) => name.length)) + 2
  return [
    ['Usage: tidings', command.name, ...positional.map(({ name }) => name), '[OPTIONS]'].join(' '),
    '',
    ...wrapped(command.about, width),
    '',
    ...rows.map(({ name, about }) => row(name, about, left, width)),
  ].join('\n')
}

const shownOptions = (options: Record<string, Option>) => Object.entries(options).filter(([, { removed }]) => !removed)

function notesOn({ required, many, default: usual }: Option): string {
  const notes = [required && 'required', many && 'may be repeated', usual !== undefined && `default: ${usual}`]
  const given = notes.filter(Boolean)
  return given.length > 0 ? ` (${given.join(', ')})` : ''
}

/** A name, and beside it the text in a column of its own. */
function row(name: string, text: string, left: number, width?: number): string {
  const lines = wrapped(text, width === undefined ? undefined : width - left - 2)
  return `  ${name.padEnd(left)}${lines.join(`\n${' '.repeat(left + 2)}`)}`
}

const NARROWEST = 30

/** The text in lines of at most this width, broken between words. A column that is too narrow is not broken. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY): string[] {
  if (width < NARROWEST) return [text]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The width of the terminal; undefined when the output is no terminal. */
export const terminalWidth = (): number | undefined =>
  process.stdout.isTTY ? Math.min(process.stdout.columns, 120) : undefined
