import { expect, test } from 'vitest'
import { invalid, UsageError } from '../base/errors.ts'
import { reportFailures, sentenceOf } from './failure.ts'

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code })

test.each<[string, Error, string | undefined]>([
  ['a mistake in how it was started', new UsageError('PORT must be a number.'), 'PORT must be a number.'],
  ['a mistake told without a full stop', new UsageError('Port 1 is in use: set PORT'), 'Port 1 is in use: set PORT.'],
  ['lines of a log', new UsageError('PostgreSQL does not start:\nFATAL'), 'PostgreSQL does not start:\nFATAL'],
  ['what the domain refuses', invalid('companyId: is unknown'), 'companyId: is unknown.'],
  ['a database that went away', withCode('ECONNREFUSED'), 'The database does not answer: ECONNREFUSED.'],
  ['a connection that broke', withCode('CONNECTION_CLOSED', 'write'), 'The database does not answer: write.'],
  ['a network that goes nowhere', withCode('EHOSTUNREACH'), 'The database does not answer: EHOSTUNREACH.'],
  ['an unknown host name', withCode('ENOTFOUND'), 'The database does not answer: ENOTFOUND.'],
  ['no connection left', withCode('53300', 'too many clients'), 'The database refuses: too many clients.'],
  [
    'no rights',
    withCode('42501', 'permission denied for schema public'),
    'The database refuses: permission denied for schema public.',
  ],
  ['a full disk', withCode('53100', 'no space left'), 'The disk is full: no space left. Make room and try again.'],
  ['wrong SQL, which is ours', withCode('42601', 'syntax error'), undefined],
  ['a bug', new TypeError('x is not a function'), undefined],
])('%s', (_, error, sentence) => {
  expect(sentenceOf(error)).toBe(sentence)
})

test('an error that is our bug is thrown without the row that PostgreSQL refused', async () => {
  const error = Object.assign(new Error('violates a check'), { code: '23514', detail: 'Failing row contains (…)' })
  await expect(reportFailures(() => Promise.reject(error))).rejects.toThrow('violates a check')
  expect(error).not.toHaveProperty('detail')
})
