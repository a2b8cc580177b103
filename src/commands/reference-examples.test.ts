import { beforeAll, describe, expect, test } from 'vitest'
import { type Example, type Media, operationsOf } from '../http/reference/document.ts'
import { formOf, useApp } from '../testing/api.ts'
import { aSessionKey } from '../testing/conformance/messaging-world.ts'
import { aKey } from '../testing/messaging-api.ts'
import { aVerifier } from '../testing/verification.ts'
import { makeDemo } from './service/demo.ts'

/** Every example body of the API reference is sent as it stands to an API with the demo world, and is taken. */

const password = 'a password of the demo'
const faces = { partner: '/partner/v1', messaging: '/api/v1' } as const
const { api } = useApp('/docs/partner.json')

type Case = { face: keyof typeof faces; method: string; path: string; type: string; example: Example }
let cases: Case[]
/** By face and kind of key. */
const tokens: Record<string, string> = {}
let dispatchId: number
let flashcall: string
let gatewayId: string
let sessionKey: string

beforeAll(async () => {
  const demo = await makeDemo(api.sql, password, new Date())
  tokens.MESSAGE = demo.key!
  tokens.VERIFIER = (await aKey(api.sql, demo.companyId!, 'VERIFIER')).key
  gatewayId = await aVerifier(api.sql, demo.companyId!)
  sessionKey = await aSessionKey(api.sql, demo.companyId!)
  tokens.ENTITY = (await aKey(api.sql, demo.companyId!, 'ENTITY')).key
  cases = (await Promise.all((['partner', 'messaging'] as const).map(casesOf))).flat()
  tokens.partner = (await sent(caseOf('POST /auth/token'), { login: 'demo', password })).token
  dispatchId = (await sent(caseOf('POST /dispatches'))).id
  const call = { channelType: 'FLASHCALL', senderName: 'shop', destination: '79160000001', content: '4711' }
  flashcall = (await sent(caseOf('POST /message'), call)).items[0].messageUuid
})

async function casesOf(face: keyof typeof faces): Promise<Case[]> {
  const document = (await api.app.inject(`/docs/${face}.json`)).json()
  return operationsOf(document).flatMap(([name, { requestBody, description }]) => {
    const [method, path] = name.split(' ') as [string, string]
    const type = /type (ENTITY|VERIFIER)/.exec(description!)?.[1] ?? 'MESSAGE'
    const bodies = Object.entries<Media>(requestBody?.content ?? {}).filter(([form]) => form === 'application/json')
    return bodies.flatMap(([, { examples = {} }]) =>
      Object.values(examples).map(example => ({ face, method, path, type, example })),
    )
  })
}

const caseOf = (name: string) => cases.find(({ method, path }) => `${method} ${path}` === name)!

/** Sends a body and returns the answer, which must be a success. */
async function sent({ face, method, path, type, example }: Case, body = example.value) {
  const url = `${faces[face]}${path}`.replace('{id}', String(path.startsWith('/dispatch') ? dispatchId : 1))
  const token = face === 'partner' ? tokens.partner : tokens[type]
  const headers = path === '/auth/token' ? {} : { authorization: `Bearer ${token}` }
  const response = await api.app.inject({ method: method as 'POST', url, headers, payload: body as object })
  expect(response.statusCode, `${method} ${url} ${JSON.stringify(body)}: ${response.body}`).toBeLessThan(300)
  return response.body ? response.json() : undefined
}

/** The values of examples that are replaced by ids and secrets of this test. */
const replaced = ({ path, example: { value } }: Case) => {
  if (path === '/auth/token') return { login: 'demo', password }
  if (path === '/message/stop') return { uuids: [flashcall] }
  if (path === '/verifier/send') return { ...(value as object), gatewayId }
  if (path === '/verifier/widget/send') return { key: sessionKey }
  if (path === '/flashcall-conversion') return { ...(value as object), messageUuid: flashcall }
  return value
}

/** These need an object of their own, in the right state. */
const isOfDispatch = ({ path }: Case) => /^\/dispatch(es)?\/\{id\}/.test(path)

describe('every example of the reference is taken', () => {
  test('by operations that create or change something', async () => {
    const usual = cases.filter(one => !isOfDispatch(one) && !/templates\/\{id\}/.test(one.path))
    expect(usual.length).toBeGreaterThan(30)
    for (const one of usual) {
      const answer = await sent(one, replaced(one))
      expect(answer?.errors ?? false, JSON.stringify(answer)).toBe(false)
    }
    for (const one of cases.filter(({ path }) => /templates\/\{id\}/.test(path))) await sent(one)
  })

  test('by the steps of a dispatch, in their order', async () => {
    const partner = cases.filter(one => isOfDispatch(one) && one.face === 'partner')
    for (const one of partner) await sent(one)
    expect(partner.map(({ path }) => path)).toEqual([
      '/dispatches/{id}/messages',
      '/dispatches/{id}/start',
      '/dispatches/{id}/stop',
    ])
    dispatchId = (await sent(cases.find(({ path }) => path === '/dispatch')!)).dispatchId
    for (const one of cases.filter(one => isOfDispatch(one) && one.face === 'messaging')) await sent(one)
  })

  test('by the upload of a document', async () => {
    const form = formOf({ name: 'file', filename: 'letter.pdf', content: '%PDF-1.4\nA letter.\n' })
    const headers = { authorization: `Bearer ${tokens.partner}`, ...form.headers }
    const url = '/partner/v1/company/1/documents'
    expect((await api.app.inject({ method: 'POST', url, headers, payload: form.body })).statusCode).toBe(201)
  })
})
