import type { AddressInfo } from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Pool } from '../db/sql.ts'
import type { KeyType } from '../domain/keys/key.ts'
import { createKey, type KeyWishes, type ShownKey } from '../domain/keys/keys.ts'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { buildApp } from '../http/app.ts'
import type { Call, TestApi } from './api.ts'
import { useDatabase } from './database.ts'

export type MessagingCall = Omit<Call, 'token'> & {
  /** The value of an API key, sent as `Bearer`. */
  key?: string
  /** One of the spellings of the API's address. */
  prefix?: '/api/v1' | '/v1' | '/api/v1/v1'
}

export type TestMessagingApi = Omit<TestApi, 'call'> & {
  call(call: MessagingCall): ReturnType<TestApi['call']>
  /** Listens on a free port of this host, and returns the address that belongs before a path. */
  listen(host: string): Promise<string>
}

/** The messaging API on a database of its own. Every answer is held to the OpenAPI document that the service serves. */
export function useMessagingApi({ trustedProxies = [] }: { trustedProxies?: string[] } = {}): TestMessagingApi {
  const api = useDatabase() as TestMessagingApi
  let check: AnswerCheck

  beforeAll(async () => {
    const numbering = await loadNumbering(api.sql)
    api.errors = []
    api.app = await buildApp({
      sql: api.sql,
      clock: () => api.now ?? new Date(),
      numbering: () => numbering,
      log: pino({ level: 'error' }, { write: line => void api.errors.push(line) }),
      billingZone: 'Europe/Moscow',
      publicUrl: 'http://localhost:8080',
      trustedProxies,
      metrics: false,
      secret: 'a secret of the tests, 32 or longer',
    })
    check = answerCheck((await api.app.inject('/docs/messaging.json')).json())
  })

  afterAll(() => api.app?.close())

  api.call = async ({ method, path, prefix = '/api/v1', body, key, headers, address }) => {
    const response = await api.app.inject({
      method,
      url: `${prefix}${path}`,
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    })
    const type = String(response.headers['content-type']).split(';')[0]!
    const parsed = type === 'application/json' ? response.json() : response.body
    check(method, path, response.statusCode, type, parsed)
    return { status: response.statusCode, headers: response.headers, text: response.body, body: parsed }
  }

  api.listen = async host => {
    await api.app.listen({ port: 0, host })
    const { port } = api.app.server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  return api
}

type AnswerCheck = (method: string, path: string, status: number, type: string, body: unknown) => void
type Document = { paths: Record<string, Record<string, { responses: Record<string, Answer> }>> }
type Answer = { content: Record<string, { schema: object }> }

/** A path or status that the document does not name must be an error, and no field is extra. */
function answerCheck({ paths }: Document): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`)

  return (method, path, status, type, body) => {
    const bare = path.split('?')[0]!
    const known = paths[bare] ? bare : Object.keys(paths).find(one => patternOf(one).test(bare))
    const operation = known === undefined ? undefined : paths[known]![method.toLowerCase()]
    const what = `${method} ${path} answered ${status}`
    if (!operation) return expect(status, `${what}, and is in no document`).toBeGreaterThanOrEqual(400)
    const answer = operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined)
    expect(answer, `${what}, which the document does not know`).toBeDefined()
    expect(Object.keys(answer!.content), what).toEqual([type])
    const validate = ajv.compile(answer!.content[type]!.schema)
    expect(validate(body), `${what}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
}

/** A key of the company; whatever is not said is as `createKey` makes it. */
export const aKey = (sql: Pool, companyId: number, type: KeyType = 'MESSAGE', wishes: KeyWishes = {}) =>
  sql.begin(tx => createKey(tx, companyId, type, wishes)) as Promise<ShownKey>
