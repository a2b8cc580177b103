import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { knownConnectors } from '../engine/gateways/known-connectors.ts'
import { type App, buildApp } from '../http/app.ts'
import { type AnswerCheck, answerCheck } from './answer-check.ts'
import { type TestDatabase, useDatabase } from './database.ts'

const SECRET = 'a secret of the tests, 32 or longer'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

export type Call = {
  method: Method
  /** Below the API's prefix: `/company?page=2`. */
  path: string
  body?: InjectOptions['payload']
  token?: string
  headers?: Record<string, string>
  /** The address of the client. */
  address?: string
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the content
export type Answer = { status: number; body: any; headers: Record<string, unknown>; text: string }

export type TestApp = TestDatabase & {
  app: App
  /** The current time of the API. Assign to it to change the time. */
  now: Date | undefined
  /** The errors that the service logged. */
  errors: string[]
}

export type TestApi = TestApp & { call(call: Call): Promise<Answer> }

/** The partner API on its own database. Every answer is compared with the OpenAPI document that the service serves. */
export function usePartnerApi(): TestApi {
  const { api, ask } = useApp('/docs/partner.json')
  return Object.assign(api, { call: (call: Call) => ask('/partner/v1', call.token || undefined, call) })
}

/** All HTTP APIs. `ask` calls one of them with a token or key, and compares the answer with its document. */
export function useApp(document: string, trustedProxies: string[] = []) {
  const api = useDatabase() as TestApp
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
      secret: SECRET,
      connectors: knownConnectors({ sql: api.sql, secret: SECRET }),
    })
    check = answerCheck((await api.app.inject(document)).json())
  })

  afterAll(() => api.app?.close())

  async function ask(prefix: string, bearer: string | undefined, call: Omit<Call, 'token'>): Promise<Answer> {
    const { method, path, body, headers, address } = call
    const response = await api.app.inject({
      method,
      url: `${prefix}${path}`,
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
    })
    const type = String(response.headers['content-type']).split(';')[0]!
    const parsed = type === 'application/json' ? response.json() : response.body
    check(method, path, response.statusCode, type, parsed)
    return { status: response.statusCode, headers: response.headers, text: response.body, body: parsed }
  }

  return { api, ask }
}

export type FormPart = { name: string; filename?: string; type?: string; content: string | Buffer }

/** A multipart/form-data body for `call`. */
export function formOf(...parts: FormPart[]): { body: Buffer; headers: Record<string, string> } {
  const boundary = '----tidings-test-form'
  const pieces = parts.flatMap(({ name, filename, type = 'application/octet-stream', content }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: ${type}`
    return [`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`, content, '\r\n']
  })
  return {
    body: Buffer.concat([...pieces, `--${boundary}--\r\n`].map(piece => Buffer.from(piece as string))),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}
