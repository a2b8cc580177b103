import { pino } from 'pino'
import { expect, test } from 'vitest'
import { buildApp } from './app.ts'

/** The service over a database that answers every question with this error. */
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

const ask = async (code: string) => {
  const app = await appOver(Object.assign(new Error('from inside'), { code }))
  const answer = await app.inject({ url: '/partner/v1/company', headers: { authorization: 'Bearer token' } })
  await app.close()
  return { status: answer.statusCode, code: answer.json().error.code, retry: answer.headers['retry-after'] }
}

test.each(['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECTION_CLOSED', '57P03', '53300'])(
  'a database that is away by %s is 503, to be asked again',
  async code => {
    expect(await ask(code)).toEqual({ status: 503, code: 5030, retry: '2' })
  },
)

test('a statement that the database refuses is our fault', async () => {
  expect(await ask('42601')).toEqual({ status: 500, code: 5000, retry: undefined })
})
