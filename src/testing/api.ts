import { Ajv2020 } from 'ajv/dist/2020.js'
import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import { loadNumbering } from '../domain/numbering/numbering.ts'
import { type App, buildApp } from '../http/app.ts'
import { type TestDatabase, useDatabase } from './database.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

export type Call = {
  method: Method
  /** Below the API's prefix: `/company?page=2`. */
  path: string
  body?: InjectOptions['payload']
  token?: string
  headers?: Record<string, string>
  /** Where the request comes from. */
  address?: string
}

export type TestApi = TestDatabase & {
  app: App
  /** The time the API sees; assign to it to travel. */
  now: Date | undefined
  /** Everything the service logged at the level of an error. */
  errors: string[]
  call(
    call: Call,
  ): Promise<{ status: number; body: ReturnType<typeof JSON.parse>; headers: Record<string, unknown>; text: string }>
}

/** The partner API on a database of its own. Every answer is held to the OpenAPI document that the service serves. */
export function usePartnerApi(): TestApi {
  const api = useDatabase() as TestApi
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
      trustedProxies: [],
      metrics: false,
      secret: 'a secret of the tests, 32 or longer',
    })
    check = answerCheck((await api.app.inject('/docs/partner.json')).json())
  })

  afterAll(() => api.app?.close())

  api.call = async ({ method, path, body, token, headers, address }) => {
    const response = await api.app.inject({
      method,
      url: `/partner/v1${path}`,
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
    })
    const answer = { status: response.statusCode, headers: response.headers, text: response.body }
    const type = String(response.headers['content-type']).split(';')[0]!
    const parsed = type === 'application/json' ? response.json() : response.body
    check(method, path, response.statusCode, type, parsed)
    return { ...answer, body: parsed }
  }

  return api
}

type AnswerCheck = (method: string, path: string, status: number, type: string, body: unknown) => void
type Document = { paths: Record<string, Record<string, { responses: Record<string, Answer> }>> }
type Answer = { content: Record<string, { schema: object }> }

/** Holds answers to the document: a status it does not name must be an error object, and no field is extra. */
function answerCheck(document: Document): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const paths = Object.keys(document.paths).map(path => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
  }))

  return (method, path, status, type, body) => {
    const bare = path.split('?')[0]!
    const exact = paths.find(known => known.path === bare) ?? paths.find(known => known.pattern.test(bare))
    const operation = exact && document.paths[exact.path]?.[method.toLowerCase()]
    if (!operation) {
      expect(status, `${method} ${path} is in no document`).toBeGreaterThanOrEqual(400)
      return
    }
    const answer = operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined)
    expect(answer, `${method} ${path} answered ${status}, which the document does not know`).toBeDefined()
    expect(Object.keys(answer!.content), `${method} ${path}`).toEqual([type])
    const validate = ajv.compile(answer!.content[type]!.schema)
    expect(validate(body), `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
}

export type FormPart = { name: string; filename?: string; type?: string; content: string | Buffer }

/** A multipart/form-data body, as `call` takes it. */
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
