import type { ChannelType } from '../../base/channel-types.ts'
import { numberOf } from '../factories.ts'
import type { Field } from './endpoints.ts'

/**
 * The inputs of `POST /message`, a row for each channel and form of content. The requests that must be refused are
 * derived from them.
 */

/** The bodies are valid at this moment. */
export const MOMENT = new Date('2026-07-01T12:00:00Z')

export type MessageRow = {
  name: string
  body: Record<string, unknown> & { channelType: ChannelType }
  /** Fields of the content, besides the fields of every message. */
  fields: Field[]
}

const noTimes = ['', 'today', '2026-07-01T13:00:00', '2026-07-01 13:00', '2026-07-01 13:00:00Z', '01.07.2026 13:00:00']
const noAddresses = ['', 'ftp://example.com/', 'example.com', 'javascript:alert(1)', '/relative', 'https://']

/** Schedule, rate and callbacks, which are the same for single messages, cascades and dispatches. */
export const scheduleFields: Field[] = [
  { path: 'useLocalTime', kind: 'bool', nullable: true },
  {
    path: 'localSendTime',
    kind: 'string',
    nullable: true,
    refused: [...noTimes, '2026-02-30 10:00:00', '2026-06-30 23:59:59', '2026-07-08 12:00:01'],
  },
  {
    path: 'localCompletionTime',
    kind: 'string',
    nullable: true,
    refused: [...noTimes, '2026-07-01 12:59:59', '2026-09-09 12:00:01', '2026-13-01 00:00:00'],
  },
  { path: 'hours', kind: 'array', nullable: true, refused: [[9, 9]] },
  { path: 'hours[1]', kind: 'int', refused: [24, -1] },
  { path: 'days', kind: 'array', nullable: true, refused: [[1, 2, 1]] },
  { path: 'days[0]', kind: 'int', refused: [0, 8] },
  { path: 'tags', kind: 'array', nullable: true, refused: [Array.from({ length: 101 }, (_, i) => `tag${i}`)] },
  { path: 'tags[0]', kind: 'string', refused: ['', 'two words', 'dash-ed', '#hash', 'x'.repeat(101)] },
  { path: 'shortUrl', kind: 'bool', nullable: true },
  { path: 'callbackUrl', kind: 'string', nullable: true, refused: noAddresses },
  { path: 'callbackEvents', kind: 'array', nullable: true },
  { path: 'callbackEvents[0]', kind: 'enum', refused: ['DELIVERED', 'failed', 'inbound_sent'] },
]

export const scheduleBody = {
  useLocalTime: true,
  localSendTime: '2026-07-01 13:00:00',
  localCompletionTime: '2026-07-02 13:00:00',
  hours: [0, 9, 23],
  days: [1, 7],
  tags: ['summer', 'лето_1'],
  shortUrl: false,
  callbackUrl: 'https://user:secret@callbacks.example.com:8443/tidings?shop=1',
  callbackEvents: ['delivered', 'sent', 'read', 'price', 'click'],
}

/** Fields of single messages and cascades. */
export const commonFields: Field[] = [
  { path: 'destination', kind: 'string', required: true, refused: ['', '7'.repeat(65)] },
  ...scheduleFields,
  { path: 'externalMessageId', kind: 'string', nullable: true, refused: ['', 'x'.repeat(101)] },
  { path: 'trafficType', kind: 'enum', nullable: true, refused: ['promo', 'AUTH'] },
]

export const commonBody = {
  destination: numberOf.MTS,
  ...scheduleBody,
  externalMessageId: 'order-17',
  trafficType: 'SERVICE',
}

const ttl = (least: number): Field => ({
  path: 'ttl',
  kind: 'int',
  nullable: true,
  refused: [0, -1, least - 1, 86_401, 2 ** 53],
})

/** Fields of a single message. */
export const messageFields = ({ body }: MessageRow): Field[] => [
  { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'FAX', '__proto__'] },
  { path: 'senderName', kind: 'string', required: true, refused: ['', 'N'.repeat(65)] },
  ttl(['FLASHCALL', 'VOICECODE'].includes(body.channelType) ? 30 : 60),
  ...commonFields,
]

const text = (most: number, path = 'content.text'): Field => ({
  path,
  kind: 'string',
  required: true,
  refused: ['', 'x'.repeat(most + 1)],
})
const kindOf = (...others: string[]): Field => ({
  path: 'content.contentType',
  kind: 'enum',
  required: true,
  refused: others,
})
const object: Field = { path: 'content', kind: 'object', required: true, refused: [{}] }
/** The content may also be a plain text. */
const textOrObject = (most: number): Field => ({
  path: 'content',
  kind: 'scalar',
  required: true,
  refused: [5, 1.5, true, null, '', 'x'.repeat(most + 1)],
})
const line = (path: string): Field => ({ path, kind: 'string', nullable: true, refused: ['', 'x'.repeat(61)] })
const address = (path: string): Field => ({ path, kind: 'string', nullable: true, refused: noAddresses })

function row(channelType: ChannelType, senderName: string, content: unknown, fields: Field[], name = ''): MessageRow {
  const body = { channelType, senderName, content, ttl: 600, ...commonBody }
  return { name: `${channelType}${name && ` ${name}`}`, body, fields }
}

const words = { contentType: 'text', text: 'Hello' }

export const messageRows: MessageRow[] = [
  row('SMS', 'ROMASHKA', 'Hello', [textOrObject(4096)]),
  row('SMS', 'ROMASHKA', { text: 'Hello' }, [text(4096)], 'with {text}'),
  row('VK', 'anyone', 'Привет', [textOrObject(2048)]),
  row('VK', 'anyone', { text: 'Привет' }, [text(2048)], 'with {text}'),
  row('WEASY', 'anyone', { text: 'Hello' }, [textOrObject(4096), text(4096)]),
  row('TELEGRAM', 'shop_bot', words, [object, kindOf('tts', 'TEXT'), text(4096)]),
  row(
    'VIBER',
    'ROMASHKA',
    { ...words, image: 'https://client.example/a.png', button: { text: 'Go', url: 'https://client.example/' } },
    [
      textOrObject(4096),
      kindOf('tts'),
      text(4096),
      address('content.image'),
      { path: 'content.button', kind: 'object', nullable: true },
      text(30, 'content.button.text'),
      { path: 'content.button.url', kind: 'string', required: true, refused: noAddresses },
    ],
  ),
  row(
    'WHATSAPP',
    'ROMASHKA',
    {
      ...words,
      header: { text: 'Shop' },
      footer: { text: 'Bye' },
      buttons: [
        { text: 'Site', url: 'https://client.example/' },
        { text: 'Call', phone: '+79160000000' },
      ],
    },
    [
      object,
      kindOf('tts', 'Text'),
      text(4096),
      { path: 'content.header', kind: 'object', nullable: true },
      line('content.header.text'),
      { path: 'content.footer', kind: 'object', nullable: true },
      line('content.footer.text'),
      {
        path: 'content.buttons',
        kind: 'array',
        nullable: true,
        refused: [Array.from({ length: 11 }, () => ({ text: 'x', phone: '1' }))],
      },
      {
        path: 'content.buttons[0]',
        kind: 'object',
        refused: [{ text: 'x' }, { text: 'x', url: null }, { text: 'x', url: 'https://a.example/', phone: '1' }],
      },
      text(25, 'content.buttons[0].text'),
      { path: 'content.buttons[0].url', kind: 'string', nullable: true, refused: noAddresses.slice(1) },
      { path: 'content.buttons[1].phone', kind: 'string', nullable: true, refused: ['1'.repeat(21)] },
    ],
    'text',
  ),
  row(
    'WHATSAPP',
    'ROMASHKA',
    { contentType: 'template', templateId: 'sale', parameters: ['Anna', '10'] },
    [
      {
        path: 'content.templateId',
        kind: 'scalar',
        required: true,
        refused: ['', 'x'.repeat(513), 0, -1, 1.5, 2 ** 53, true, null],
      },
      { path: 'content.parameters', kind: 'array', nullable: true, refused: [Array(51).fill('x')] },
      { path: 'content.parameters[1]', kind: 'string', refused: ['x'.repeat(1025)] },
    ],
    'template',
  ),
  row(
    'WHATSAPP',
    'ROMASHKA',
    { contentType: 'authentication', code: '4321' },
    [text(15, 'content.code')],
    'authentication',
  ),
  row('FLASHCALL', 'anyone', '0042', [
    {
      path: 'content',
      kind: 'scalar',
      required: true,
      refused: ['', '123', '12345', 'abcd', '12 4', '١٢٣٤', 999, 10_000, -1234, 1234.5, true, null],
    },
  ]),
  row('VOICECODE', 'VoiceCode', { contentType: 'text', text: 'Your code is 1 2 3 4' }, [
    object,
    kindOf('tts'),
    {
      ...text(1000),
      refused: ['', `1234${'x'.repeat(997)}`, 'no code', 'Code 123', 'Code 123456789', 'Code 1 2 3', 'a1b2c3d4'],
    },
  ]),
  row('TEXT_TO_SPEECH', '74950000000', { contentType: 'tts', text: 'Hello', sex: 'male', speed: 1.5 }, [
    object,
    kindOf('text'),
    text(1000),
    { path: 'content.sex', kind: 'enum', nullable: true, refused: ['other', 'MALE'] },
    { path: 'content.speed', kind: 'number', nullable: true, refused: [0.49, 2.01, 0, -1] },
  ]),
  row(
    'PUSH',
    'shop',
    {
      text: 'Hello',
      title: 'Shop',
      url: 'https://client.example/',
      image: 'https://client.example/a.png',
      data: { order: 17, deep: { list: [1, 'a', null] } },
    },
    [
      object,
      text(4096),
      { path: 'content.title', kind: 'string', nullable: true, refused: ['', 'x'.repeat(201)] },
      address('content.url'),
      address('content.image'),
      {
        path: 'content.data',
        kind: 'object',
        nullable: true,
        refused: [{ long: 'x'.repeat(4096) }, nested(21)],
      },
    ],
  ),
]

/** Valid steps, the last step at the end. */
export const cascadeSteps = {
  viber: { channelType: 'VIBER', senderName: 'ROMASHKA', content: words, condition: 'not_read', ttl: 60 },
  vk: { channelType: 'VK', senderName: 'anyone', content: 'Hello', condition: 'not_delivered', ttl: 3600 },
  last: { channelType: 'SMS', senderName: 'ROMASHKA', content: { text: 'Hello' } },
}

export const cascadeBody = { ...commonBody, cascade: [cascadeSteps.viber, cascadeSteps.vk, cascadeSteps.last] }

/** The further inputs of `POST /message/cascade`. */
export const cascadeFields: Field[] = [
  {
    path: 'cascade',
    kind: 'array',
    required: true,
    refused: [[], [cascadeSteps.last], Array(11).fill(cascadeSteps.vk)],
  },
  { path: 'cascade[1]', kind: 'object' },
  { path: 'cascade[0].channelType', kind: 'enum', required: true, refused: ['viber'] },
  { path: 'cascade[2].senderName', kind: 'string', required: true, refused: ['', 'N'.repeat(65)] },
  { path: 'cascade[0].content', kind: 'scalar', required: true, refused: [5, null, ''] },
  { path: 'cascade[0].content.text', kind: 'string', required: true, refused: ['', 'x'.repeat(4097)] },
  { path: 'cascade[1].content', kind: 'scalar', required: true, refused: ['x'.repeat(2049), ''] },
  { path: 'cascade[0].condition', kind: 'enum', nullable: true, refused: ['NOT_READ', 'not_sent'] },
  { path: 'cascade[0].ttl', kind: 'int', nullable: true, refused: [0, 29, 59, 86_401] },
  { path: 'cascade[2].ttl', kind: 'int', nullable: true, refused: [60] },
  { path: 'cascade[2].condition', kind: 'enum', nullable: true, refused: ['not_read', 'not_delivered'] },
]

/** An object in an object in an object. */
export function nested(levels: number): object {
  let value: object = {}
  for (let i = 1; i < levels; i++) value = { a: value }
  return value
}

/** Values that are inside the bounds, by the name of their row. */
export const taken: { row: string; path: string; values: readonly unknown[] }[] = [
  { row: 'SMS', path: 'hours', values: [null, [], [0], Array.from({ length: 24 }, (_, i) => i)] },
  { row: 'SMS', path: 'days', values: [null, [], [7], [1, 2, 3, 4, 5, 6, 7]] },
  { row: 'SMS', path: 'ttl', values: [null, 60, 86_400] },
  { row: 'FLASHCALL', path: 'ttl', values: [30, 86_400] },
  { row: 'VOICECODE', path: 'ttl', values: [30] },
  { row: 'SMS', path: 'localSendTime', values: [null, '2026-07-01 00:00:00', '2026-07-02 13:00:00'] },
  { row: 'SMS', path: 'localCompletionTime', values: [null, '2026-07-01 15:00:01', '2026-09-09 12:00:00'] },
  { row: 'SMS', path: 'callbackEvents', values: [null, [], ['delivered'], ['click', 'click']] },
  { row: 'SMS', path: 'callbackUrl', values: [null, 'http://192.0.2.7:8080/', 'HTTP://EXAMPLE.COM/a?b=c#d'] },
  { row: 'SMS', path: 'tags', values: [null, [], ['x'.repeat(100)]] },
  { row: 'SMS', path: 'externalMessageId', values: [null, '🌼'.repeat(100)] },
  { row: 'SMS', path: 'trafficType', values: [null, 'PROMO', 'AUTHORIZE'] },
  { row: 'SMS', path: 'destination', values: ['+7 (916) 000-00-01', '89160000001'] },
  { row: 'SMS', path: 'senderName', values: ['sms_promo'] },
  { row: 'VK', path: 'content', values: ['ж', 'ж'.repeat(2048)] },
  { row: 'FLASHCALL', path: 'content', values: ['0000', 1000, 9999] },
  { row: 'VOICECODE', path: 'senderName', values: ['voicecode', 'VOICECODE'] },
  {
    row: 'VOICECODE',
    path: 'content.text',
    values: ['1234', '12345678', 'Code: 12-34-56', `1234${'x'.repeat(996)}`],
  },
  { row: 'TEXT_TO_SPEECH', path: 'content.speed', values: [null, 0.5, 2, 1] },
  { row: 'WHATSAPP text', path: 'content.buttons[0].phone', values: [null] },
  { row: 'WHATSAPP text', path: 'content.buttons', values: [null, []] },
  { row: 'WHATSAPP text', path: 'content.header', values: [null, {}, { text: null }] },
  { row: 'WHATSAPP text', path: 'content.footer', values: [null, {}, { text: null }] },
  { row: 'WHATSAPP template', path: 'content.parameters', values: [null, []] },
  { row: 'PUSH', path: 'content.data', values: [null, {}, nested(20), { __proto__: null, constructor: 1 }] },
]
