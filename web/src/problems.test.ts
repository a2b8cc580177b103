import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { refusalOfLogin, refusalOfPassword } from '../../src/domain/partners/partner.ts'
import { badCredentials } from '../../src/domain/people/sign-in.ts'
import { requireUsableSenders, whyUnusable } from '../../src/domain/routing/routing.ts'
import { NoAnswer, ServerError } from './api.ts'
import { describeProblem, keyOf } from './problems.ts'
import { ru } from './words/ru.ts'
import { wordsOf } from './words/words.ts'

const words = wordsOf('ru', ru)
const refused = (status: number, msg: string, headers: Record<string, string> = {}) =>
  new ServerError(new Response(null, { status, headers }), { code: status * 10, msg })

test('refusals of the server have a translation', () => {
  expect(keyOf(badCredentials().message)).toBe('problem.credentials')
  expect(keyOf(`password: ${refusalOfPassword('short')}`)).toBe('problem.passwordLength')
  expect(keyOf(`password: ${refusalOfPassword(' long enough but ')}`)).toBe('problem.passwordSpace')
  const name = { channelType: 'SMS', senderName: 'ROMASHKA' } as const
  expect(keyOf(`senderName: ${whyUnusable(name, [])}`)).toBe('problem.nameNotApproved')
  expect(keyOf(`login: ${refusalOfLogin('no spaces here')}`)).toBe('problem.login')
})

test('refusals of senders by their ids have a translation', () => {
  const keyFor = (change: object) => {
    const sender = { senderId: 12, senderName: 'ROMASHKA', channelType: 'SMS', status: 'APPROVED', ...change }
    try {
      requireUsableSenders([sender as never], [12], 'SMS')
    } catch (error) {
      return keyOf((error as Error).message)
    }
  }
  expect(keyFor({ suspended: true })).toBe('problem.nameSuspended')
  for (const status of ['REJECTED', 'DENIED', 'CLOSED']) expect(keyFor({ status })).toBe('problem.nameNotApproved')
})

test('the refusal of another amount after an accepted attempt has a translation', () => {
  expect(describeProblem(words, refused(422, 'This Idempotency-Key was used with another request'))).toBe(
    ru['problem.keyUsed'],
  )
})

test('a pause is shown in whole minutes', () => {
  const error = refused(429, 'Too many', { 'retry-after': '250' })
  expect(describeProblem(words, error)).toBe('Слишком много попыток. Повторите через 5 минут.')
})

test('an object that another person deleted meanwhile and a missing right have a translation', () => {
  expect(describeProblem(words, refused(404, 'Rule not found'))).toBe(ru['error.gone.meanwhile'])
  expect(describeProblem(words, refused(403, 'You may not do this'))).toBe(ru['error.forbidden.text'])
})

test('a refusal without a translation quotes the server, and an error of ours does not', () => {
  expect(describeProblem(words, refused(400, 'The moon is full'))).toBe('Сервер не принял запрос: The moon is full')
  expect(describeProblem(words, refused(500, 'column "x" does not exist'))).toBe(ru['error.unknown'])
  expect(describeProblem(words, new NoAnswer('x'))).toBe(ru['error.noAnswer'])
  expect(describeProblem(words, new TypeError('x is undefined'))).toBe(ru['error.unknown'])
})

/** Slices that the cabinet calls and that refuse input of people. */
const slices = ['documents', 'inbound', 'numbering', 'pricing', 'traffic-centers'].map(
  name => `src/domain/${name}/*.ts`,
)

/**
 * The page cannot cause these refusals, because it checks the input first or the person does not choose these values.
 */
const neverShown = [
  /^(Content-Type|companyId|partnerId|page|total|connector|companies|dispatches|zone|updatedAt|senderNames|documentIds): /,
  /^(callbackUrl|file|center|amount|comment|channelType): /,
  /^1: must be a (day|time)|^1 is not a day|^Name a company or a partner|^The piece must have/,
]
/** Pages translate these refusals themselves. */
const translatedByPage = [/^The file has mistakes: /, /^A gateway with the name /]

test('every refusal that a person may meet has a translation', () => {
  const found = refusalsIn(['src/http/cabinet/**/*.ts', ...slices])
  expect(found.length).toBeGreaterThan(50)
  const isKept = (message: string) => [...neverShown, ...translatedByPage].some(pattern => pattern.test(message))
  expect(found.filter(message => keyOf(message) === undefined && !isKept(message))).toEqual([])
})

/** The texts of `invalid(…)`, with 1 for each inserted value. */
function refusalsIn(patterns: string[]): string[] {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const sources = globSync(patterns, { cwd }).filter(file => !file.endsWith('.test.ts'))
  const calls = sources.flatMap(file => [...readFileSync(`${cwd}/${file}`, 'utf8').matchAll(CALL)])
  return calls.map(([, text]) => text!.slice(1, -1).replace(/\$\{[^}]*\}/g, '1'))
}
const CALL = /\binvalid\(\s*('[^'\n]*'|`[^`]*`)/g
