import { channelTypes, trafficTypes } from '../../base/channel-types.ts'
import { type KeyType, keyTypes } from '../../domain/keys/key.ts'
import { numberOf } from '../factories.ts'
import type { Endpoint, Field, Parameter } from './endpoints.ts'
import type { MessagingSide } from './messaging-world.ts'

/** The messaging API in the same form as the partner API: one row for each endpoint and each input. */
export type MessagingEndpoint = Pick<Endpoint, 'method' | 'path' | 'status' | 'parameters' | 'fields'> & {
  /** The types of keys that it accepts. */
  types: readonly KeyType[]
  id?: (side: MessagingSide) => number
  query?: Record<string, unknown>
  body?: (side: MessagingSide) => object
  /** The part `body` of a form contains the same JSON. */
  form?: boolean
  /** Mutations of the body with their own error code. The code of all others is 4000. */
  codes?: Record<string, number>
}

export const nameOf = ({ method, path, form }: MessagingEndpoint) => `${method} ${path}${form ? ' as a form' : ''}`

let numbers = 0
/** Every request has its own number, because a number must wait for its next code. */
const anotherNumber = () => `7903${String(++numbers).padStart(7, '0')}`

const badIds = [0, -1, 2 ** 53, 1e300]
const paging: Parameter[] = [
  { name: 'page', kind: 'int', refused: ['0', '-1'] },
  { name: 'per_page', kind: 'int', refused: ['0', '-1', '1001', '1000000'] },
]
const someOf = (name: string, refused: string[]): Parameter => ({ name, kind: 'enum', repeatable: true, refused })

const documentIds: Field[] = [
  { path: 'documentIds', kind: 'array', nullable: true },
  { path: 'documentIds[0]', kind: 'uuid' },
]
const commonType = { path: 'commonType', kind: 'enum', refused: ['promo', 'START'] } as const
const badSmsNames = ['', ' ', '           ', 'TWELVE-CHARS', 'РОМАШКА', 'tab\there', 'line\n', 'a{b}', 'N'.repeat(65)]

const newSenderName: Omit<MessagingEndpoint, 'form'> = {
  method: 'POST',
  path: '/sender-names',
  status: 201,
  types: ['ENTITY'],
  body: ({ documentId }) => ({
    senderName: 'VASILEK',
    channelType: 'SMS',
    commonType: 'COMMON',
    brand: 'MTS',
    dateFrom: '2026-01-01T00:00:00+03:00',
    countryId: 1,
    description: 'A flower shop',
    documentIds: [documentId],
  }),
  fields: [
    { path: 'senderName', kind: 'string', required: true, refused: badSmsNames },
    { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'FAX'] },
    { ...commonType, required: true },
    { path: 'brand', kind: 'enum', required: true, refused: ['mts', 'YOTA'] },
    { path: 'dateFrom', kind: 'datetime', required: true },
    { path: 'countryId', kind: 'int', nullable: true, refused: [...badIds, 2, 9999] },
    { path: 'description', kind: 'string', nullable: true, refused: ['x'.repeat(2001)] },
    ...documentIds,
  ],
}

const badPatterns = ['', ' ', '\t', '%w{2,3}', '%w{1,0}', '%d{1,101}', '%w{}', 'x'.repeat(2001), '%w '.repeat(51)]
const templateFields: Field[] = [
  { path: 'senderNameId', kind: 'int', nullable: true, refused: [...badIds, 999_999_999] },
  { path: 'senderName', kind: 'string', nullable: true, refused: ['', 'N'.repeat(65), 'NO SUCH NAME'] },
  { path: 'brand', kind: 'enum', nullable: true, refused: ['mts'] },
  { path: 'countryCode', kind: 'string', nullable: true, refused: ['', 'R', 'RUS'] },
  { path: 'content', kind: 'object', nullable: true },
  {
    path: 'content.name',
    kind: 'string',
    required: true,
    refused: ['', 'Order', 'order ready', 'заказ', 'n'.repeat(513)],
  },
  { path: 'content.language', kind: 'string', required: true, refused: ['', 'russian', 'RU', 'ru-RU', 'ru_'] },
  { path: 'dateFrom', kind: 'datetime', nullable: true },
  {
    path: 'dateTo',
    kind: 'datetime',
    nullable: true,
    refused: ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'],
  },
]
const templateBody = (side: MessagingSide) => ({
  templateType: 'SERVICE',
  pattern: 'Your order %d is ready, %w{1,3}',
  senderNameId: side.messengerNameId,
  senderName: 'ROMASHKA',
  brand: 'MTS',
  countryCode: 'RU',
  content: { name: 'order_ready', language: 'en_US' },
  dateFrom: '2026-02-01T00:00:00Z',
  dateTo: '2099-01-01T00:00:00Z',
})

export const messagingEndpoints: MessagingEndpoint[] = [
  newSenderName,
  { ...newSenderName, form: true },
  {
    method: 'GET',
    path: '/sender-names',
    status: 200,
    types: ['ENTITY'],
    query: { page: 1, per_page: 100, channel_type: 'SMS', country_code: 'RU', status: 'DRAFT', brand: 'MTS' },
    parameters: [
      ...paging,
      someOf('channel_type', ['sms']),
      { name: 'country_code', repeatable: true, kind: 'string', refused: ['', 'ru', 'RUS', 'R\0', '\0'] },
      someOf('status', ['draft']),
      someOf('brand', ['mts']),
    ],
  },
  { method: 'GET', path: '/sender-names/{id}', status: 200, types: ['ENTITY'], id: side => side.draftId },
  {
    method: 'PUT',
    path: '/sender-names/{id}',
    status: 200,
    types: ['ENTITY'],
    id: side => side.draftId,
    body: ({ documentId }) => ({
      senderName: 'LANDYSH',
      commonType: 'COMMON',
      dateFrom: '2026-02-01T00:00:00Z',
      dateTo: '2099-01-01T00:00:00Z',
      documentIds: [documentId],
    }),
    fields: [
      { path: 'senderName', kind: 'string', nullable: true, refused: badSmsNames },
      { ...commonType, nullable: true },
      { path: 'dateFrom', kind: 'datetime', nullable: true },
      { path: 'dateTo', kind: 'datetime', refused: ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'] },
      ...documentIds,
    ],
  },
  {
    method: 'POST',
    path: '/templates',
    status: 201,
    types: ['ENTITY'],
    body: side => ({ channelType: 'WHATSAPP', ...templateBody(side) }),
    fields: [
      { path: 'channelType', kind: 'enum', required: true, refused: ['whatsapp', 'FAX'] },
      { path: 'templateType', kind: 'enum', required: true, refused: ['service', 'COMMON'] },
      { path: 'pattern', kind: 'string', required: true, refused: badPatterns },
      ...templateFields,
    ],
  },
  {
    method: 'GET',
    path: '/templates',
    status: 200,
    types: ['ENTITY'],
    query: {
      page: 1,
      per_page: 100,
      channel_type: 'WHATSAPP',
      status: 'DRAFT',
      template_id: 1,
      sender_name: 'ROMASHKA',
      template_type: 'SERVICE',
    },
    parameters: [
      ...paging,
      someOf('channel_type', ['whatsapp']),
      someOf('status', ['draft']),
      {
        name: 'template_id',
        repeatable: true,
        kind: 'string',
        refused: ['', '0', '-1', '1.5', 'abc', '1e3', '0x1', ' 1', '1'.repeat(17), '\0'],
      },
      { name: 'sender_name', repeatable: true, kind: 'string', refused: ['\0', 'a\0'] },
      someOf('template_type', ['service']),
    ],
  },
  { method: 'GET', path: '/templates/{id}', status: 200, types: ['ENTITY'], id: side => side.templateId },
  {
    method: 'PUT',
    path: '/templates/{id}',
    status: 200,
    types: ['ENTITY'],
    id: side => side.templateId,
    body: templateBody,
    fields: [
      { path: 'templateType', kind: 'enum', nullable: true, refused: ['service', 'COMMON'] },
      { path: 'pattern', kind: 'string', nullable: true, refused: badPatterns },
      ...templateFields,
    ],
  },
  { method: 'GET', path: '/references/error-codes', status: 200, types: keyTypes },
  {
    method: 'POST',
    path: '/flashcall-conversion',
    status: 200,
    types: ['MESSAGE'],
    body: ({ flashcallUuid }) => ({ messageUuid: flashcallUuid, result: 'NUMBER_VERIFIED', code: '1234' }),
    fields: [
      { path: 'messageUuid', kind: 'uuid', required: true },
      { path: 'result', kind: 'enum', required: true, refused: ['number_verified', 'VERIFIED'] },
      { path: 'code', kind: 'scalar', nullable: true, refused: [true, 1.5, -1, 2 ** 53, 'x'.repeat(21)] },
    ],
  },
  {
    method: 'POST',
    path: '/verifier/send',
    status: 200,
    types: ['VERIFIER'],
    body: ({ gatewayId }) => ({
      channelType: 'SMS',
      destination: anotherNumber(),
      gatewayId,
      callbackEvents: ['delivered'],
    }),
    fields: [
      { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'PUSH', 'VIBER'] },
      { path: 'destination', kind: 'string', required: true, refused: ['', 'no number', '+44 20 7946 0000'] },
      { path: 'gatewayId', kind: 'string', required: true, refused: [''] },
      { path: 'substitutions', kind: 'object', nullable: true, refused: [{ name: [] }] },
      { path: 'clientIp', kind: 'string', nullable: true, refused: ['', '1.2.3', 'localhost'] },
      { path: 'lang', kind: 'string', nullable: true, refused: ['', 'x'.repeat(11)] },
      { path: 'externalMessageId', kind: 'string', nullable: true, refused: ['', 'x'.repeat(101)] },
      { path: 'callbackUrl', kind: 'string', nullable: true, refused: ['', 'ftp://example.com'] },
      { path: 'callbackEvents', kind: 'array', nullable: true, refused: [['clicked']] },
      { path: 'callbackEvents[0]', kind: 'enum', refused: ['clicked', 'DELIVERED'] },
    ],
  },
  {
    method: 'POST',
    path: '/verifier/check',
    status: 200,
    types: ['VERIFIER'],
    body: ({ smsUuid }) => ({ uuid: smsUuid, code: '418305' }),
    fields: [
      { path: 'uuid', kind: 'string', required: true, refused: ['', 'x'.repeat(65)] },
      { path: 'code', kind: 'scalar', required: true, refused: [true, null, 1.5, -1, 'x'.repeat(21)] },
    ],
  },
  {
    method: 'POST',
    path: '/verifier/widget/send',
    status: 200,
    types: ['VERIFIER', 'BUILDER_WIDGET'],
    body: ({ sessionKey }) => ({ key: sessionKey }),
    fields: [{ path: 'key', kind: 'string', required: true, refused: ['', 'x'.repeat(201)] }],
    codes: { 'key missing': 320, 'key null': 320, 'key ""': 320 },
  },
  {
    method: 'POST',
    path: '/verifier/widget/check',
    status: 200,
    types: ['VERIFIER', 'BUILDER_WIDGET'],
    body: ({ sessionKey }) => ({ key: sessionKey }),
    fields: [
      { path: 'key', kind: 'string', required: true, refused: ['', 'x'.repeat(201)] },
      { path: 'result', kind: 'string', nullable: true, refused: ['x'.repeat(1001)] },
    ],
  },
  {
    method: 'POST',
    path: '/subscribers',
    status: 200,
    types: ['MESSAGE'],
    body: () => ({
      channelType: 'TELEGRAM',
      senderName: 'romashka_bot',
      subscribers: [
        { destination: numberOf.MTS, externalId: '5001' },
        { destination: numberOf.TELE2, externalId: 5002 },
      ],
    }),
    fields: [
      { path: 'channelType', kind: 'enum', required: true, refused: ['telegram', 'SMS', 'FLASHCALL', 'FAX'] },
      { path: 'senderName', kind: 'string', required: true, refused: ['', 'N'.repeat(65)] },
      { path: 'subscribers', kind: 'array', required: true, refused: [[]] },
      { path: 'subscribers[0]', kind: 'object' },
      { path: 'subscribers[0].destination', kind: 'string', required: true },
      { path: 'subscribers[0].externalId', kind: 'scalar', required: true, refused: [true, null, 1.5, 2 ** 53] },
    ],
  },
]

/** Every value of every enumeration, and values just inside the bounds. */
export const taken: { endpoint: string; path: string; values: readonly unknown[] }[] = [
  { endpoint: 'POST /sender-names', path: 'channelType', values: channelTypes },
  {
    endpoint: 'POST /sender-names as a form',
    path: 'commonType',
    values: ['PROMO', 'COMMON', 'MULTISIGNATURE', 'INTERNATIONAL_VERIFY', 'INTERNATIONAL_COMMON'],
  },
  { endpoint: 'POST /sender-names', path: 'brand', values: ['MTS', 'BEELINE', 'MEGAFON', 'TELE2'] },
  { endpoint: 'POST /sender-names', path: 'senderName', values: ['A', ' A', 'ELEVENCHARS', '!"#$%&\'()*+', '_ 0'] },
  { endpoint: 'POST /sender-names as a form', path: 'description', values: ['', 'x'.repeat(2000), 'Цветы 🌼'] },
  { endpoint: 'POST /sender-names', path: 'countryId', values: [1, 398, 112] },
  { endpoint: 'POST /sender-names', path: 'documentIds', values: [[]] },
  { endpoint: 'GET /sender-names', path: 'page', values: [1, 2, 1_000_000_000, Number.MAX_SAFE_INTEGER] },
  { endpoint: 'GET /sender-names', path: 'per_page', values: [1, 1000] },
  { endpoint: 'GET /sender-names', path: 'country_code', values: ['RU', 'KZ', 'XX'] },
  { endpoint: 'GET /sender-names', path: 'status', values: ['DRAFT', 'APPROVED', 'REJECTED', 'CLOSED'] },
  { endpoint: 'POST /templates', path: 'templateType', values: trafficTypes },
  { endpoint: 'POST /templates', path: 'senderNameId', values: [null] },
  { endpoint: 'POST /templates', path: 'content', values: [null, { name: 'a', language: 'ru' }] },
  { endpoint: 'POST /templates', path: 'dateTo', values: [null, '2099-01-01T00:00:00+03:00'] },
  { endpoint: 'POST /templates', path: 'pattern', values: ['x', '%w', '%d{1,100}', 'x'.repeat(2000), 'Скидка 50%'] },
  { endpoint: 'GET /templates', path: 'page', values: [1, 1_000_000_000, Number.MAX_SAFE_INTEGER] },
  { endpoint: 'GET /templates', path: 'per_page', values: [1, 1000] },
  { endpoint: 'GET /templates', path: 'template_id', values: [1, 999_999_999_999_999] },
  { endpoint: 'GET /templates', path: 'sender_name', values: ['', 'Ромашка', "'; drop table templates; --"] },
  { endpoint: 'GET /templates', path: 'template_type', values: trafficTypes },
  {
    endpoint: 'POST /flashcall-conversion',
    path: 'result',
    values: ['NUMBER_VERIFIED', 'NUMBER_VERIFIERD', 'WRONG_CODE'],
  },
  { endpoint: 'POST /flashcall-conversion', path: 'code', values: ['', '0000', 'x'.repeat(20), 0, 9999] },
  { endpoint: 'POST /subscribers', path: 'channelType', values: ['TELEGRAM', 'PUSH', 'VK', 'VIBER', 'WHATSAPP'] },
  { endpoint: 'POST /subscribers', path: 'senderName', values: ['r', 'N'.repeat(64), 'Ромашка'] },
  {
    endpoint: 'POST /subscribers',
    path: 'subscribers[0].externalId',
    values: ['', 'x'.repeat(100_000), -1001234567890, Number.MAX_SAFE_INTEGER],
  },
  { endpoint: 'POST /subscribers', path: 'subscribers[0].destination', values: ['', 'no number', '+7 916 000-00-01'] },
]
