import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { channelTypes } from '../../../base/channel-types.ts'
import { money } from '../../../base/money.ts'
import { type MessagingEvent, messagingBody, storedEvent } from '../../../domain/callbacks/messaging-event.ts'
import { inboundItem } from '../../../domain/inbound/item.ts'
import { type CascadePlan, singleEvents } from '../../../domain/messages/single.ts'
import { anyJson, changed, someChanges } from '../../../testing/conformance/arbitraries.ts'
import { messageFields, messageRows, taken } from '../../../testing/conformance/messaging-messages.ts'
import { bodyMutations, without, withValue } from '../../../testing/conformance/mutations.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'
import { compileValidator } from '../../validation.ts'
import type { Caller } from '../auth.ts'
import { readCascade } from '../messages/cascades.ts'
import { readMessageRequest } from '../messages/message-request.ts'

/** What the served document says of inputs that are read by hand, and of callbacks, held against the code. */

const api = useMessagingApi()
const caller: Caller = { companyId: 1, keyId: 1, trafficCenterId: 1, type: 'MESSAGE' }

// biome-ignore lint/suspicious/noExplicitAny: a document with many shapes
let document: any
const ajv = new Ajv2020({ strict: false, formats: { uri: isUri, uuid: true, 'date-time': true } })

function isUri(text: string): boolean {
  return compileValidator({ schema: { type: 'string', format: 'uri' } })(text) as boolean
}

beforeAll(async () => {
  document = (await api.app.inject('/docs/messaging.json')).json()
  ajv.addSchema(document, 'document')
})

const steps = (...path: string[]) => path.map(step => step.replaceAll('/', '~1')).join('/')
const schemaAt = (...path: string[]) => ajv.compile({ $ref: `document#/${steps(...path)}` })

/** No schema can say this. */
const isBeyondSchemas = (wrong: string) =>
  /^content\.data: must (be at most 20 levels|have at most 4096)|^content\.text: must contain a code/.test(wrong)

describe('a message', () => {
  let isDescribed: ReturnType<typeof schemaAt>

  beforeAll(() => {
    isDescribed = schemaAt('components', 'schemas', 'NewMessage')
  })

  function expectSameMind(body: unknown) {
    const read = readMessageRequest(body, caller)
    if (typeof read === 'string' && isBeyondSchemas(read)) return
    const words = typeof read === 'string' ? read : 'it is taken'
    expect(isDescribed(body), `${JSON.stringify(body).slice(0, 500)}: ${words}`).toBe(typeof read !== 'string')
  }

  test.each(messageRows.map(row => [row.name, row] as const))('of %s is taken where it is described', (_, row) => {
    const fields = [...messageFields(row), ...row.fields]
    expectSameMind(row.body)
    for (const { path } of fields) expectSameMind(without(row.body, path))
    for (const { body } of bodyMutations({ method: 'POST', path: '', status: 200, fields }))
      expectSameMind(body(row.body))
    for (const { content } of messageRows.map(({ body }) => body)) expectSameMind({ ...row.body, content })
  })

  test.each(taken)('just inside the bounds: $row $path', ({ row, path, values }) => {
    const good = messageRows.find(({ name }) => name === row)!.body
    for (const value of values) expectSameMind(withValue(good, path, value))
  })

  test('with anything changed in it is taken where it is described', () => {
    const row = fc.constantFrom(...messageRows.map(({ body }) => body))
    fc.assert(
      fc.property(row, someChanges, (body, wanted) => expectSameMind(changed(body, wanted))),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(row, anyJson, (body, content) => expectSameMind({ ...body, content })),
      { numRuns: 250 },
    )
  })
})

test('a step of a dispatch may have placeholders where its channel asks for digits', () => {
  const isDescribed = schemaAt('paths', '/dispatch', 'post', 'requestBody', 'content', 'application/json', 'schema')
  const flashcall = { channelType: 'FLASHCALL', senderName: 'shop', content: '{code}', ttl: 30 }
  const voice = { contentType: 'text', text: 'Your code is {code}' }
  const last = { channelType: 'VOICECODE', senderName: 'voicecode', content: voice }
  const dispatch = (step: object) => ({ name: 'Codes', cascade: [{ ...flashcall, ...step }, last] })
  expect(isDescribed(dispatch({})), ajv.errorsText(isDescribed.errors)).toBe(true)
  expect(isDescribed(dispatch({ ttl: 29 }))).toBe(false)
})

describe('an absent field', () => {
  type Properties = Record<string, { description: string }>
  const propertiesOf = (schema: { properties: Properties }) => schema.properties
  const defaultsOf = (properties: Properties) =>
    Object.fromEntries(
      Object.entries(properties).flatMap(([name, { description }]) => {
        const said = /Without it: `([^`]+)`/.exec(description)?.[1]
        return said === undefined ? [] : [[name, said]]
      }),
    )
  const inWords = (values: object) => Object.fromEntries(Object.entries(values).map(([name, one]) => [name, `${one}`]))
  const named = (name: string) => propertiesOf(document.components.schemas[name])

  const callbackUrl = 'https://client.example/'
  const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Hello' }

  test('in a message is taken as the document says', () => {
    const read = readMessageRequest({ ...sms, destination: '79160000001', callbackUrl }, caller)
    const { options, callbackEvents } = read as Exclude<typeof read, string>
    const { useLocalTime, shortUrl } = options
    expect(defaultsOf(named('NewMessage_SMS'))).toEqual(inWords({ useLocalTime, shortUrl, callbackEvents }))
    expect({ useLocalTime, shortUrl, callbackEvents }).toEqual({
      useLocalTime: true,
      shortUrl: false,
      callbackEvents: ['delivered'],
    })
  })

  test('in a step of a cascade too, of a dispatch as well', () => {
    const read = readCascade({ destination: '79160000001', cascade: [sms, sms] }, caller)
    const { condition, ttlSeconds: ttl } = ((read as Exclude<typeof read, string>).cascade as { plan: CascadePlan })
      .plan[0]!
    expect({ condition, ttl }).toEqual({ condition: 'not_delivered', ttl: 3600 })
    for (const channel of channelTypes) {
      expect(defaultsOf(named(`CascadeStep_${channel}`))).toEqual(inWords({ condition, ttl }))
      expect(defaultsOf(named(`DispatchStep_${channel}`))).toEqual(inWords({ condition, ttl }))
    }
  })

  test('in a dispatch is said as well', () => {
    expect(
      defaultsOf(propertiesOf(document.paths['/dispatch'].post.requestBody.content['application/json'].schema)),
    ).toEqual(inWords({ useLocalTime: true, shortUrl: false, callbackEvents: ['delivered'] }))
  })
})

describe('a callback', () => {
  const at = new Date('2026-07-01T12:00:00Z')
  const message = { messageUuid: '0198c5a0-0000-7000-8000-000000000001', channelType: 'SMS' } as const
  const told = {
    ...message,
    cascade: { messageUuid: message.messageUuid, step: 2 },
    externalMessageId: 'order-17',
  } as const
  const inbound = {
    uuid: message.messageUuid,
    channelType: 'WHATSAPP',
    centerId: 1,
    senderName: 'ROMASHKA',
    destination: '79160000001',
    text: 'Hello',
    receivedAt: at,
  } as never
  const price = { kind: 'price', parts: 2, price: money('7.5'), currency: 'RUB', at } as const
  const click = { kind: 'click', url: 'https://a.example/', shortUrl: 'https://b.example/s/1', at } as const

  const statuses = ['sent', 'delivered', 'undelivered', 'unsent', 'read', 'unread'] as const
  const events: MessagingEvent[] = [
    ...statuses.flatMap((status): MessagingEvent[] => [
      { ...message, kind: 'status', status, at },
      { ...told, kind: 'status', status, at },
    ]),
    { ...told, kind: 'status', status: 'undelivered', errorCode: 7060, at },
    { ...message, ...price },
    { ...told, ...price },
    { ...message, ...click },
    { ...told, ...click },
    { ...message, kind: 'inbound', item: inboundItem(inbound, 'RUB', undefined), at },
  ]
  const bodies = events.map(event => JSON.parse(messagingBody(storedEvent(event))))
  const callback = ['webhooks', 'callback', 'post', 'requestBody', 'content', 'application/json', 'schema']

  test('of every event is as the document describes it', () => {
    expect(schemaAt(...callback)(bodies), ajv.errorsText()).toBe(true)
    for (const body of bodies) {
      const isDescribed = schemaAt('components', 'schemas', `Event_${body.callback_event}`)
      expect(isDescribed(body), `${JSON.stringify(body)} ${ajv.errorsText(isDescribed.errors)}`).toBe(true)
      expect(isDescribed({ ...body, more: 1 })).toBe(false)
    }
  })

  test('is described for every event that may be asked for, and with no field that is never there', () => {
    const described = Object.entries<{ properties: object }>(document.components.schemas).flatMap(([name, schema]) =>
      name.startsWith('Event_') ? [[name.replace('Event_', ''), Object.keys(schema.properties)] as const] : [],
    )
    expect(described.map(([event]) => event).sort()).toEqual([...singleEvents, 'inbound_sent'].sort())
    for (const [event, fields] of described) {
      const seen = new Set(bodies.filter(one => one.callback_event === event).flatMap(one => Object.keys(one)))
      expect([...seen].sort(), event).toEqual([...fields].sort())
    }
  })
})
