import { expect, test } from 'vitest'
import { whyUnusable } from '../../src/domain/dispatches/routing.ts'
import { refusalOfLogin, refusalOfPassword } from '../../src/domain/partners/partner.ts'
import { badCredentials } from '../../src/domain/people/sign-in.ts'
import { NoAnswer, ServerError } from './api.ts'
import { describeProblem, keyOf } from './problems.ts'
import { ru } from './words/ru.ts'
import { wordsOf } from './words/words.ts'

const words = wordsOf('ru', ru)
const refused = (status: number, msg: string, headers: Record<string, string> = {}) =>
  new ServerError(new Response(null, { status, headers }), { code: status * 10, msg })

test('what the server refuses with has a text of ours', () => {
  expect(keyOf(badCredentials().message)).toBe('problem.credentials')
  expect(keyOf(`password: ${refusalOfPassword('short')}`)).toBe('problem.passwordLength')
  expect(keyOf(`password: ${refusalOfPassword(' long enough but ')}`)).toBe('problem.passwordSpace')
  const name = { channelType: 'SMS', senderName: 'ROMASHKA' } as const
  expect(keyOf(`senderName: ${whyUnusable(name, [])}`)).toBe('problem.nameNotApproved')
  expect(keyOf(`login: ${refusalOfLogin('no spaces here')}`)).toBe('problem.login')
})

test('another amount after an attempt that was taken is refused in the words of the reader', () => {
  expect(describeProblem(words, refused(422, 'This Idempotency-Key was used with another request'))).toBe(
    ru['problem.keyUsed'],
  )
})

test('a pause is told in whole minutes', () => {
  const error = refused(429, 'Too many', { 'retry-after': '250' })
  expect(describeProblem(words, error)).toBe('Слишком много попыток. Повторите через 5 минут.')
})

test('what another person deleted meanwhile, and what a role does not allow, is told in the language of the reader', () => {
  expect(describeProblem(words, refused(404, 'Rule not found'))).toBe(ru['error.gone.meanwhile'])
  expect(describeProblem(words, refused(403, 'You may not do this'))).toBe(ru['error.forbidden.text'])
})

test('a refusal without a text of ours is shown in the words of the server, a failure of ours is not', () => {
  expect(describeProblem(words, refused(400, 'The moon is full'))).toBe('The moon is full')
  expect(describeProblem(words, refused(500, 'column "x" does not exist'))).toBe(ru['error.unknown'])
  expect(describeProblem(words, new NoAnswer('x'))).toBe(ru['error.noAnswer'])
  expect(describeProblem(words, new TypeError('x is undefined'))).toBe(ru['error.unknown'])
})
