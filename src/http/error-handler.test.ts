import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { AppError, invalid, invalidField } from '../base/errors.ts'
import { buildApp } from './app.ts'

/** The service with a database that fails every statement with this error. */
async function appOver(error: Error) {
  const sql = Object.assign(() => Promise.reject(error), { options: { max: 10 } })
  return buildApp({
    sql: sql as never,
    clock: () => new Date(),
    numbering: () => undefined as never,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    metrics: false,
    secret: 'a secret of the tests, 32 or longer',
  })
}

async function answerTo(error: Error) {
  const app = await appOver(error)
  const answer = await app.inject({ url: '/partner/v1/company', headers: { authorization: 'Bearer token' } })
  await app.close()
  const retry = answer.headers['retry-after']
  return { status: answer.statusCode, ...answer.json<{ error: { code: number; msg: string } }>().error, retry }
}

async function ask(databaseError: string) {
  const { status, code, retry } = await answerTo(Object.assign(new Error('from inside'), { code: databaseError }))
  return { status, code, retry }
}

test.each(['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECTION_CLOSED', '57P03', '53300'])(
  'a lost database connection (%s) gets 503 with Retry-After',
  async code => {
    expect(await ask(code)).toEqual({ status: 503, code: 5030, retry: '2' })
  },
)

test('a statement that the database refuses is an internal error', async () => {
  expect(await ask('42601')).toEqual({ status: 500, code: 5000, retry: undefined })
})

describe('a refusal by the domain', () => {
  test.each([
    [invalid('The dispatch is COMPLETED'), 'The dispatch is COMPLETED'],
    [invalidField('pattern', 'must not be empty'), 'pattern: must not be empty'],
    [invalidField('senderId', 'is a name of VIBER'), 'senderNameId: is a name of VIBER'],
    [invalidField('senderName', 'is suspended', 1), 'cascade[1].senderName: is suspended'],
    [
      new AppError('search_too_wide', 'The search takes too long'),
      'The search takes too long: narrow it by time_from and time_to, or by destination',
    ],
  ])('%s is answered in the names of the API', async (refusal, msg) => {
    expect(await answerTo(refusal)).toMatchObject({ status: 400, code: 4000, msg })
  })
})
