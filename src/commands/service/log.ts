import { isatty, WriteStream } from 'node:tty'
import { type Logger, type LoggerOptions, pino } from 'pino'
import { printable, printableJsonLine } from '../../base/printable.ts'
import { rowFieldsOf } from '../../base/refused-rows.ts'

/**
 * Log lines go to stderr, readable on a terminal and as JSON everywhere else; stdout is for what a command has to say.
 * Control characters of foreign text are written out in both.
 */
export function makeLog(level: string, role: string): Logger {
  const stderr = pino.destination(2)
  // In a thread `process.stderr` does not know that it is a terminal.
  const lineOf = isatty(2) ? terminalLine(WriteStream.prototype.hasColors()) : printableJsonLine
  return createLog({ level, role }, json => void stderr.write(lineOf(json)))
}

export const createLog = ({ level, role }: { level: string; role: string }, write: (json: string) => void): Logger =>
  pino(
    {
      level,
      base: { role, pid: process.pid },
      hooks: { logMethod: nameFullDisk() },
      // The parser of forms logs its options at `trace`, and their headers have tokens and cookies.
      serializers: { err: errorWithoutRows, busboyOptions: () => undefined },
    },
    { write },
  )

const errorWithoutRows = (error: unknown): unknown =>
  error instanceof Error ? withoutRows(pino.stdSerializers.err(error)) : error

/** Also of the errors within an error. */
function withoutRows(shown: unknown): unknown {
  if (Array.isArray(shown)) return shown.map(withoutRows)
  if (typeof shown !== 'object' || shown === null) return shown
  const ofRows = rowFieldsOf(shown)
  const fields = Object.entries(shown).filter(([name]) => !ofRows.includes(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutRows(value)]))
}

type Line = {
  level: number
  time: number
  role?: string
  msg?: string
  err?: { message?: string; stack?: string; code?: string }
}

const RED = 31
const YELLOW = 33
const GREY = 90
const ERROR = pino.levels.values.error!
const WARN = pino.levels.values.warn!

const ERASE_LINE = '\r\x1b[K'

/** Replaces the progress that may stand in the terminal's last line, such as "Starting the engine ...". */
export const terminalLine =
  (hasColors: boolean) =>
  (json: string): string =>
    ERASE_LINE + readableLine(hasColors)(json)

/** `16:41:20.123 WARN engine bind.closed gatewayId=3 reason="The operator closed the connection"` */
export const readableLine =
  (hasColors: boolean) =>
  (json: string): string => {
    const { level, time, role, msg, err, pid: _, ...fields } = JSON.parse(json) as Line & { pid?: number }
    const paint = (text: string, color: number) => (hasColors ? `\x1b[${color}m${text}\x1b[0m` : text)
    const name = pino.levels.labels[level]?.toUpperCase() ?? String(level)
    const words = [
      paint(clockTime(new Date(time)), GREY),
      level >= WARN ? paint(name, level >= ERROR ? RED : YELLOW) : name,
      ...(role ? [role] : []),
      printable(msg ?? ''),
      ...Object.entries({ ...fields, ...reasonOf(err) }).map(([key, value]) => `${key}=${shown(value)}`),
    ]
    const stack = level >= ERROR ? linesOf(err) : []
    return `${[words.join(' '), ...stack.map(line => paint(line, GREY))].join('\n')}\n`
  }

const clockTime = (at: Date) =>
  [at.getHours(), at.getMinutes(), at.getSeconds()].map(part => String(part).padStart(2, '0')).join(':') +
  `.${String(at.getMilliseconds()).padStart(3, '0')}`

const reasonOf = (err: Line['err']) => (err?.message ? { reason: err.message } : {})

/** Where in our code: only for errors, which are bugs. The first line is the message, which stands above. */
const linesOf = (err: Line['err']) =>
  (err?.stack ?? '')
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .map(printable)

/** A word as it is, anything else as JSON. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[^\s"=]+$/.test(text) ? printable(text) : printable(typeof value === 'string' ? JSON.stringify(value) : text)
}

/** As the system and as PostgreSQL say it. */
const DISK_FULL = ['ENOSPC', 'EDQUOT', '53100']
const NAME_EVERY_MS = 60_000

/**
 * A full disk causes many different errors. One line a minute names the full disk, for errors of any part of the
 * service.
 */
function nameFullDisk(): NonNullable<LoggerOptions['hooks']>['logMethod'] {
  let namedAt = Number.NEGATIVE_INFINITY
  return function (args, method) {
    const code = codeOf(args[0])
    if (DISK_FULL.includes(code) && performance.now() - namedAt >= NAME_EVERY_MS) {
      namedAt = performance.now()
      this.error(
        { code, reason: 'No space is left on the disk: make room, or move the data to a larger one' },
        'disk.full',
      )
    }
    method.apply(this, args)
  }
}

function codeOf(logged: unknown): string {
  const { code, err, error } = (logged ?? {}) as {
    code?: unknown
    err?: { code?: unknown }
    error?: { code?: unknown }
  }
  return String(err?.code ?? error?.code ?? code ?? '')
}
