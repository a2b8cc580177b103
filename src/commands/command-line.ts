import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { UsageError } from '../base/errors.ts'
import { printable, printableJsonLine } from '../base/printable.ts'
import { loadConfig } from '../config.ts'
import { usePasswordCost } from '../domain/partners/password.ts'
import type { Call, Command } from './command.ts'
import { helpOf, overviewOf, terminalWidth } from './help.ts'

/**
 * Runs the command of these words, or reports their mistake in one sentence. The environment is read when a command
 * runs, so that help and version also work with wrong settings.
 */
export async function runCommandLine(
  commands: Command[],
  given: string[],
  readEnv: () => NodeJS.ProcessEnv,
): Promise<void> {
  if (given[0] === '--version' || given[0] === '-v') return printVersion(given.includes('--json'))
  const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const command = commandIn(commands, words)
  if (!command) return printOverview(commands, words)
  const rest = words.slice(command.name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) return write(helpOf(command, terminalWidth()))
  await command.run(readCall(command, rest, readEnv))
}

const commandIn = (commands: Command[], words: string[]) =>
  commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))

function printVersion(asJson: boolean) {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  write(asJson ? JSON.stringify({ version }) : `tidings ${version}`)
}

/** The words name no command: they ask for help, or they are a mistake. */
function printOverview(commands: Command[], words: string[]) {
  const asked = words.filter(word => !isHelpWord(word) && word !== '--json')
  const group = commands.filter(({ name }) => name.split(' ')[0] === asked[0])
  if (asked.length === 0) return write(overviewOf(commands, terminalWidth()))
  if (group.length === 0)
    throw new UsageError(`There is no command "${asked.join(' ')}": \`tidings --help\` lists them.`)
  if (words.some(isHelpWord)) return write(overviewOf(group, terminalWidth()))
  throw new UsageError(`\`tidings ${asked[0]}\` needs one more word: ${group.map(({ name }) => name).join(', ')}.`)
}

const isHelpWord = (word: string) => word === '--help' || word === '-h' || word === 'help'

function readCall(command: Command, words: string[], readEnv: () => NodeJS.ProcessEnv): Call {
  const { values, positionals } = parseWords(command, words)
  refuseMissing(command, values, positionals)
  const options: Call['options'] = {}
  const lists: Call['lists'] = {}
  const switches: Call['switches'] = {}
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') options[name] = value
    else if (Array.isArray(value)) lists[name] = value.map(String)
    else switches[name] = value === true
  }
  const config = loadConfig(readEnv())
  usePasswordCost(config.passwordCost)
  return {
    config,
    options,
    lists,
    switches,
    arguments: positionals,
    print: (value, text) => write(switches.json ? printableJsonLine(JSON.stringify(value)) : printableLines(text)),
    progress: text => {
      if (process.stderr.isTTY) process.stderr.write(`\r${text}\x1b[K`)
    },
  }
}

/** The output may contain stored texts. Of its control characters, only our line ends reach the terminal. */
const printableLines = (text: string) => text.split('\n').map(printable).join('\n')

function parseWords(command: Command, words: string[]) {
  const known = Object.entries(command.options ?? {}).map(([name, { value, many, default: usual }]) => [
    name,
    { type: value ? ('string' as const) : ('boolean' as const), multiple: many ?? false, default: usual },
  ])
  try {
    return parseArgs({
      args: words,
      options: { ...Object.fromEntries(known), json: { type: 'boolean' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw new UsageError(
      `${firstSentence((error as Error).message)} \`tidings ${command.name} --help\` shows the options.`,
    )
  }
}

function firstSentence(message: string): string {
  const [first = message] = message.split(/\. |\n/)
  return `${first.replace(/\.$/, '')}.`
}

function refuseMissing(command: Command, values: Record<string, unknown>, positionals: string[]) {
  const options = Object.entries(command.options ?? {})
  const removed = options.find(([name, option]) => option.removed && values[name] !== undefined)
  if (removed) throw new UsageError(`--${removed[0]} ${removed[1].removed}`)
  const missing = options.find(([name, option]) => option.required && values[name] === undefined)
  const empty = options.find(([name]) => [values[name]].flat().includes(''))
  if (empty) throw new UsageError(`--${empty[0]} must not be empty.`)
  const wanted = command.arguments?.length ?? 0
  if (missing) throw new UsageError(missingInWords(command, missing[0], positionals[wanted]))
  if (positionals.length < wanted)
    throw new UsageError(
      `${command.arguments?.[positionals.length]?.name} is missing: \`tidings ${command.name} --help\` tells more.`,
    )
  if (positionals.length > wanted)
    throw new UsageError(`"${positionals[wanted]}" is one word too many for \`tidings ${command.name}\`.`)
}

/** Some commands take an id as a word, others as an option. So an extra word is probably the missing value. */
function missingInWords({ name }: Command, option: string, extraWord: string | undefined): string {
  if (extraWord !== undefined) return `--${option} is required: did you mean \`--${option} ${extraWord}\`?`
  return `--${option} is required: \`tidings ${name} --help\` shows the options.`
}

function write(text: string) {
  process.stdout.write(`${text}\n`)
}

/** The value of an option that the command requires, or for which it has a default. */
export const textOption = (call: Call, name: string): string => given(call.options[name], `--${name}`)

/** The first argument of a command. */
export const argumentOf = (call: Call): string => given(call.arguments[0], 'An argument')

/** `refuseMissing` has checked required options before the command runs. A missing value here is a wrong definition. */
export function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new UsageError(`${what} is required.`)
  return value
}

/** Reads an option that must be a whole number above zero. */
export const idOption = (call: Call, name: string): number => readId(textOption(call, name), name)

/** Reads the argument of a command that must be a whole number above zero. */
export const idArgument = (call: Call, name: string): number => readWhole(argumentOf(call), name)

export const readId = (text: string, name: string): number => readWhole(text, `--${name}`)

function readWhole(text: string, what: string): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || id < 1 || !Number.isSafeInteger(id)) {
    throw new UsageError(`${what} must be a whole number above zero, not "${text}".`)
  }
  return id
}
