import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { programFiles } from './testing/source-files.ts'

/** Rules for the sources that hold without running them. */

const linesWith = (pattern: RegExp, ...folders: string[]) =>
  programFiles(...folders).flatMap(({ name, path }) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter(line => pattern.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
      .map(line => `${name}: ${line.trim()}`),
  )

test('no page is built from text as HTML, and no text is run as a program', () => {
  const html = /\b(dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|srcdoc)\b|\bdocument\.write(ln)?\(/
  const program = /\beval\(|\bnew Function\(|\b(href|src)=["'`{]+javascript:/
  expect(linesWith(html, 'web', 'widget', 'src')).toEqual([])
  expect(linesWith(program, 'web', 'widget', 'src')).toEqual([])
})

test('secrets are found by their hash, or compared in constant time', () => {
  const comparison =
    /\b\w*(hash|token|secret|signature|hmac|digest|password)\w*(\(\w*\))?\s*[!=]==?\s(?!undefined|null|true|false|['"`\d])/i
  const found = linesWith(comparison, 'src').filter(
    line => !harmless.some(([file, part]) => line.startsWith(file) && line.includes(part)),
  )
  expect(found).toEqual([])
})

/** Comparisons that no client can repeat to learn a secret. */
const harmless = [
  ['src/db/transfer.ts', 'markOf(secret)'], // a mark of the secret in a dump, on the command line
  ['src/channels/push/access-tokens.ts', 'held?.token === token'], // two tokens of the service itself
  ['src/domain/partners/partner.ts', 'password.trim()'], // the new password with itself
  ['src/domain/templates/automaton.ts', 'FIRST_PLACE'], // tokens of a text
  ['src/domain/verifications/checker.ts', 'guess.hash === hash'], // hashes of two guesses
  ['src/http/widget/captcha/providers.ts', 'testSecrets'], // published secrets for tests
  ['src/http/widget/captcha/solve.ts', 'challenge.challenge'], // solves a public challenge
] as const
