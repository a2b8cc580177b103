import { stripTypeScriptTypes } from 'node:module'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorDescriptions } from '../../base/error-codes.ts'
import { widgetErrors as shownByWidget } from '../../base/widget-errors.ts'
import { partnerBody } from '../../domain/callbacks/callback.ts'
import { answerCheck } from '../../testing/answer-check.ts'
import { usePartnerApi } from '../../testing/api.ts'
import { codeOfKind } from '../error-handler.ts'
import { type Document, innerSchemas, type Operation, operationsOf, type Schema, webhooksOf } from './document.ts'
import { answerErrors, messageErrors, widgetErrors } from './errors.ts'

/** What the API reference promises of the documents that it is made of. */

const api = usePartnerApi()

describe.each(['partner', 'messaging'])('the document of the %s API', face => {
  let text: string
  let document: Document
  let operations: [string, Operation][]

  beforeAll(async () => {
    text = (await api.app.inject(`/docs/${face}.json`)).body
    document = JSON.parse(text)
    operations = operationsOf(document)
  })

  test('has no error and no warning for Redocly', async () => {
    // A license is the operator's to state, and a ping has nothing to refuse.
    const rules = { 'info-license': 'off', 'operation-4xx-response': face === 'partner' ? 'error' : 'off' } as const
    const config = await createConfig({ extends: ['recommended'], rules })
    const problems = await lintFromString({ source: text, absoluteRef: `${face}.json`, config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  test('works under any host name', () => {
    expect((document as unknown as { servers: { url: string }[] }).servers).toMatchObject([
      { url: face === 'partner' ? '/partner/v1' : '/api/v1' },
    ])
  })

  test('describes every operation, tag and parameter', () => {
    const tags = new Set(document.tags!.map(({ name }) => name))
    const missing = operations.flatMap(([name, { description, summary, tags: own, parameters = [] }]) => [
      ...(isSaid(description) && isSaid(summary) ? [] : [name]),
      ...own.filter(tag => !tags.has(tag)).map(tag => `${name} has the unknown tag ${tag}`),
      ...parameters.filter(parameter => !isSaid(parameter.description)).map(parameter => `${name} ?${parameter.name}`),
    ])
    expect(missing).toEqual([])
    expect(document.tags!.every(({ description }) => isSaid(description))).toBe(true)
  })

  test('describes every field', () => {
    const bodies = [...operations, ...webhooksOf(document).map((one): [string, Operation] => ['a callback', one])]
    const roots = bodies.flatMap(([name, { requestBody, responses }]): [string, Schema][] =>
      [requestBody, ...Object.values(responses)]
        .flatMap(holder => Object.values(holder?.content ?? {}))
        .map(({ schema }) => [name, schema]),
    )
    const named = Object.entries(document.components.schemas!)
    expect([...roots, ...named].flatMap(([name, schema]) => undescribed(name, schema))).toEqual([])
  })

  test('has an example of every body', () => {
    const without = operations.flatMap(([name, { requestBody }]) => {
      if (/^(POST|PUT)/.test(name) && !requestBody) return [`${name} has no body`]
      return Object.values(requestBody?.content ?? {}).every(({ examples }) => Object.keys(examples ?? {}).length > 0)
        ? []
        : [name]
    })
    expect(without).toEqual([])
  })

  test('has a name of its own for every operation, and explicit errors', () => {
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(ids.every(id => /^[a-z][A-Za-z]+$/.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [name, { responses, security }] of operations) {
      expect(Object.keys(responses), name).not.toContain('default')
      expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['500', '503']))
      expect('401' in responses || name === 'GET /ping', name).toBe(true)
      expect(security!.length > 0, name).toBe(!['GET /ping', 'POST /auth/token'].includes(name))
    }
  })
})

test.each(['partner', 'messaging'])('the samples of the %s API are TypeScript', async face => {
  const document = (await api.app.inject(`/docs/${face}.json`)).json()
  for (const [name, operation] of operationsOf(document)) {
    const [sample] = operation['x-codeSamples'] as { source: string }[]
    expect(stripTypeScriptTypes(sample!.source), name).toContain('fetch(')
  }
})

test.each([
  ['partner', 'POST /dispatches'],
  ['messaging', 'POST /dispatch'],
  ['messaging', 'POST /message'],
  ['messaging', 'POST /message/cascade'],
])('in the %s API, %s may be refused because templates take too long to match', async (face, name) => {
  const document = (await api.app.inject(`/docs/${face}.json`)).json()
  const [, { responses }] = operationsOf(document).find(([one]) => one === name)!
  expect(Object.keys(responses)).toContain('429')
})

const isSaid = (text: string | undefined) => (text?.length ?? 0) >= 8

function undescribed(at: string, schema: Schema): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    isSaid(field.description) ? [] : [`${at}: ${name}`],
  )
  return [...own, ...innerSchemas(schema).flatMap(({ inner }) => undescribed(at, inner))]
}

test('the callbacks of the partner API are as the document describes them', async () => {
  const document = (await api.app.inject('/docs/partner.json')).json()
  const check = answerCheck({
    ...document,
    paths: { '/callback': { post: { responses: { 200: document.webhooks.callback.post.requestBody } } } },
  })
  const event = {
    messageUuid: '0198c5a0-0000-7000-8000-000000000001',
    destination: '79160000001',
    at: '2026-07-01T12:00:00.000Z',
  }
  for (const kind of ['sent', 'delivered', 'failed'] as const) {
    const body = JSON.parse(partnerBody({ ...event, event: kind, ...(kind === 'failed' ? { errorCode: 456 } : {}) }))
    check('POST', '/callback', 200, 'application/json', body)
    expect(() => check('POST', '/callback', 200, 'application/json', { ...body, more: 1 })).toThrow()
  }
})

describe('the explanation of error codes', () => {
  test('has every code that the service answers', () => {
    const answered = [...Object.values(codeOfKind), { status: 500, code: 5000 }]
    const explained = answerErrors.map(({ status, code }) => ({ status, code }))
    expect(explained).toEqual(expect.arrayContaining(answered))
  })

  test('has every code that messages carry', () => {
    expect(messageErrors.map(({ code }) => String(code))).toEqual(Object.keys(errorDescriptions))
  })

  test('has every number that the widget shows', () => {
    expect(widgetErrors.map(({ code }) => code)).toEqual(Object.values(shownByWidget))
  })

  test('has an anchor of its own for each, and no link that leads nowhere', async () => {
    const page = (await api.app.inject('/docs/errors')).body
    const anchors = [...page.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor!)
    expect(new Set(anchors).size).toBe(anchors.length)
    expect(anchors).toEqual(expect.arrayContaining(['110', '320', 'widget-320', '350']))
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(anchors).toContain(target)
  })

  test('says meaning, cause and remedy of each', () => {
    for (const entry of [...answerErrors, ...messageErrors, ...widgetErrors]) {
      for (const word of [entry.title, entry.meaning, entry.cause, entry.remedy]) {
        expect(word.length, String(entry.code)).toBeGreaterThan(5)
      }
    }
  })
})
