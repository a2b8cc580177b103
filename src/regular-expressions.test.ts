import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import { programFiles } from './testing/source-files.ts'

/**
 * A regular expression that backtracks can take seconds for a text of some kilobytes, and block the process for all
 * clients (ReDoS). This test finds every regular expression of the service, the cabinet and the widget, and tries it with
 * long texts that almost match. The limit is processor time: a linear expression needs less than a hundredth of it.
 */

const LENGTH = 60_000
const LIMIT_MS = 400

/** Expressions that are slow for long texts, and why they never get one. */
const exceptions: Record<string, string> = {
  '/^\\s*[,.–—-]?\\s*$/': 'base/content/spoken-code.ts: the text has at most 3 characters',
  '/^\\s*[–—-]?\\s*$/': 'base/content/spoken-code.ts: the text has at most 3 characters',
  '/[\\d.]+$/': 'base/network/networks.ts: the text is an IP address',
  '/9+$/': 'domain/blacklist/blacklist.ts: the text is the beginning of a number, at most 15 digits',
  '/\\d+(?=\\}$)/': 'domain/templates/named.ts: the text is one place of a template',
  '/\\/+$/': 'commands/operators/widget-service.ts: an option of the command line',
  '/\\B(?=(\\d{3})+$)/g': 'the text is an amount of money',
  '/\\s+[-–—]\\s+|\\s*[–—]\\s*/': 'web/src/messages/search.ts: runs in the browser of the person that types the text',
  '/\\.?0+$/': 'web/src/new-dispatch/recipients/files/cell-formats.ts: the text is a number of JavaScript',
  '/0+$/': 'web/src/words/decimals.ts: the text is an amount of money',
  '/(\\s*\\{number\\}|\\n)/': 'widget/view/screens.ts: the text is a sentence of the widget',
}

type Expression = { source: string; flags: string; file: string }

/** A literal follows a sign after which no division can stand. */
const LITERAL =
  /(?:[(,=:[!&|?{};>]|\breturn|^)\s*\/((?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)(?!\w)/gm

const expressions: Expression[] = programFiles('src', 'web', 'widget').flatMap(({ name, path }) => {
  const text = readFileSync(path, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
  return [...text.matchAll(LITERAL)].map(([, source, flags]) => ({ source: source!, flags: flags!, file: name }))
})

/** Texts that repeat the characters of the expression and end with a character that it does not expect. */
function hostileTexts(source: string): string[] {
  const plain = source.replaceAll(/\\[dDwWsSbBpP](\{\w+\})?|[\\^$*+?()[\]{}|]/g, '')
  const letters = [...new Set([...plain.slice(0, 12), 'a', '0', ' ', '\t', '\n', '-', '.', '"', 'я'])]
  const pairs = letters.slice(0, 5).flatMap(one => letters.slice(0, 5).map(other => one + other))
  const start = /^\^?((?:\\?[\w:#<"=+/ -])*)/.exec(source)![1]!.replaceAll('\\', '')
  return [...letters, ...pairs].flatMap(unit => {
    const long = unit.repeat(LENGTH / unit.length)
    return [`${long}\u0001`, ...(start ? [`${start}${long}\u0001`] : [])]
  })
}

/** The processor time that all hostile texts take together, in milliseconds. It ends early after 15 seconds. */
function timeOf({ source, flags }: Expression): number {
  const expression = new RegExp(source, flags.replace('g', '').replace('y', ''))
  const before = process.threadCpuUsage()
  try {
    const context = createContext({ expression, texts: hostileTexts(source) })
    runInContext('for (const text of texts) expression.test(text)', context, { timeout: 15_000 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** Without one of these, the time does not depend on the length of the text. */
const repeats = ({ source }: Expression) => /[*+]|\{\d+,\}/.test(source)

test('no regular expression of the sources takes long for a long text', () => {
  const distinct = new Map(expressions.filter(repeats).map(one => [`/${one.source}/${one.flags}`, one]))
  expect(distinct.size).toBeGreaterThan(100)
  expect(Object.keys(exceptions).filter(name => !distinct.has(name))).toEqual([])
  const slow = [...distinct].filter(([name, one]) => !exceptions[name] && timeOf(one) > LIMIT_MS)
  expect(slow.map(([name, { file }]) => `${file}: ${name}`)).toEqual([])
})

test.each([
  ['exponential', '^(a+)+$'],
  ['quadratic', '\\s+$'],
])('an expression with %s time is found', (_, source) => {
  expect(timeOf({ source, flags: '', file: '' })).toBeGreaterThan(LIMIT_MS)
})
