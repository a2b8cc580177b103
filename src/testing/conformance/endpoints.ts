import { channelTypes, trafficTypes } from '../../base/channel-types.ts'
import { numberOf } from '../factories.ts'
import { aDispatch, type Side } from './world.ts'

/**
 * The partner API of the specification, one row for each endpoint and each input. `mutations.ts` derives the requests
 * that must be refused, so that no type, bound or missing field is forgotten.
 */
export type Kind = 'string' | 'int' | 'number' | 'bool' | 'enum' | 'datetime' | 'uuid' | 'array' | 'object' | 'scalar'

export type Field = {
  /** The path in `msg` of the answer: `messages[0].destination`. */
  path: string
  kind: Kind
  required?: boolean
  nullable?: boolean
  /** Values of the right type that must be refused. */
  refused?: readonly unknown[]
}

export type Parameter = Omit<Field, 'path' | 'refused'> & {
  name: string
  repeatable?: boolean
  refused?: readonly string[]
}

export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT'
  /** The path in the specification. */
  path: string
  status: 200 | 201
  /** The value of `{id}`. */
  id?: (side: Side) => number
  query?: (side: Side) => Record<string, unknown>
  parameters?: Parameter[]
  /** A body with every field set. */
  body?: (side: Side) => object
  fields?: Field[]
  /** The body may be left out, be empty, or be `{}`. */
  bodyless?: boolean
  /** The body is not JSON. Other tests check it. */
  form?: boolean
}

const badIds = [0, -1, 2 ** 53, 1e300]
const id = (path: string): Field => ({ path, kind: 'int', required: true, refused: badIds })
const companyParameter: Parameter = {
  name: 'companyId',
  kind: 'int',
  required: true,
  refused: ['0', '-1', '9007199254740992', '1e300'],
}
const page: Parameter = { name: 'page', kind: 'int', refused: ['0', '-1'] }
const perPage = (name: string): Parameter => ({ name, kind: 'int', refused: ['0', '-1', '1001', '1000000'] })

const commonTypes = { kind: 'enum', refused: ['promo', 'START'] } as const
const longName = 'N'.repeat(256)

const substitutionsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, i]))

const recipients: Field[] = [
  { path: 'messages', kind: 'array', required: true, refused: [[]] },
  { path: 'messages[0]', kind: 'object' },
  { path: 'messages[0].destination', kind: 'string', required: true },
  { path: 'messages[0].substitutions', kind: 'object', refused: [substitutionsOf(101)] },
  { path: 'messages[0].substitutions.name', kind: 'scalar', nullable: true },
  { path: 'messages[1].customText', kind: 'string', nullable: true },
]
const messages = [
  { destination: numberOf.MTS, substitutions: { name: 'Anna', age: 30, vip: true, city: null } },
  { destination: numberOf.TELE2, customText: 'A text of its own' },
]

export const endpoints: Endpoint[] = [
  {
    method: 'POST',
    path: '/auth/token',
    status: 200,
    body: ({ partner: { login, password } }) => ({ login, password }),
    fields: [
      { path: 'login', kind: 'string', required: true },
      { path: 'password', kind: 'string', required: true },
    ],
  },
  {
    method: 'POST',
    path: '/company',
    status: 201,
    body: () => ({
      company: {
        name: 'Vasilek',
        counteragentType: 'LEGAL',
        counteragentInn: '7700000002',
        counteragentAddress: 'Lesnaya 1',
        counteragentKpp: '770001001',
      },
      budget: 1000.5,
    }),
    fields: [
      { path: 'company', kind: 'object', required: true },
      { path: 'company.name', kind: 'string', required: true, refused: ['', longName] },
      { path: 'company.counteragentType', kind: 'enum', required: true, refused: ['legal', 'PERSON'] },
      {
        path: 'company.counteragentInn',
        kind: 'string',
        required: true,
        refused: ['', '770000000', '77000000011', '7700000000012', '77000000a1', ' 7700000001', '770000000１'],
      },
      { path: 'company.counteragentAddress', kind: 'string' },
      { path: 'company.counteragentKpp', kind: 'string' },
      { path: 'budget', kind: 'number', nullable: true, refused: [-1, -0.0001, 1e300] },
    ],
  },
  {
    method: 'GET',
    path: '/company',
    status: 200,
    query: () => ({ page: 1, per_page: 10 }),
    parameters: [page, perPage('per_page')],
  },
  { method: 'GET', path: '/company/{id}', status: 200, id: side => side.companyId },
  {
    method: 'PUT',
    path: '/company/{id}',
    status: 200,
    id: side => side.companyId,
    body: () => ({ budget: 2000, status: 'ACTIVE', name: 'Romashka-2', actualAddress: 'Polevaya 2' }),
    fields: [
      { path: 'budget', kind: 'number', nullable: true, refused: [-1, -0.0001, 1e300] },
      { path: 'status', kind: 'enum', refused: ['active', 'CLOSED'] },
      { path: 'name', kind: 'string', refused: ['', longName] },
      { path: 'actualAddress', kind: 'string' },
    ],
  },
  { method: 'POST', path: '/company/{id}/documents', status: 201, id: side => side.companyId, form: true },
  { method: 'GET', path: '/company/{id}/documents', status: 200, id: side => side.companyId },
  {
    method: 'POST',
    path: '/senders',
    status: 201,
    body: ({ companyId, documentId }) => ({
      companyId,
      senderName: 'VASILEK',
      channelType: 'SMS',
      commonType: 'PROMO',
      brand: 'MTS',
      dateFrom: '2026-01-01T00:00:00+03:00',
      countryId: 1,
      description: 'A flower shop',
      documentIds: [documentId],
    }),
    fields: [
      id('companyId'),
      {
        path: 'senderName',
        kind: 'string',
        required: true,
        refused: ['', ' ', '           ', 'TWELVE-CHARS', 'РОМАШКА', 'tab\there', 'line\n', 'a{b}', 'N'.repeat(65)],
      },
      { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'FAX'] },
      { path: 'commonType', required: true, ...commonTypes },
      { path: 'brand', kind: 'enum', required: true, refused: ['mts', 'YOTA'] },
      { path: 'dateFrom', kind: 'datetime', required: true },
      { path: 'countryId', kind: 'int', refused: [...badIds, 2, 9999] },
      { path: 'description', kind: 'string' },
      { path: 'documentIds', kind: 'array' },
      { path: 'documentIds[0]', kind: 'uuid' },
    ],
  },
  {
    method: 'GET',
    path: '/senders',
    status: 200,
    query: side => ({
      companyId: side.companyId,
      brand: 'MTS',
      commonType: 'COMMON',
      status: 'APPROVED',
      channelType: 'SMS',
      countryCode: 'RU',
    }),
    parameters: [
      companyParameter,
      { name: 'brand', repeatable: true, kind: 'enum', refused: ['mts'] },
      { name: 'commonType', repeatable: true, kind: 'enum', refused: ['promo'] },
      { name: 'status', repeatable: true, kind: 'enum', refused: ['draft'] },
      { name: 'channelType', repeatable: true, kind: 'enum', refused: ['sms'] },
      { name: 'countryCode', repeatable: true, kind: 'string', refused: ['', 'ru', 'RUS', 'R\0', '\0'] },
    ],
  },
  {
    method: 'GET',
    path: '/senders/{id}',
    status: 200,
    id: side => side.draftId,
    query: side => ({ companyId: side.companyId }),
    parameters: [{ ...companyParameter, required: false }],
  },
  {
    method: 'PUT',
    path: '/senders/{id}',
    status: 200,
    id: side => side.draftId,
    body: ({ documentId }) => ({
      senderName: 'LANDYSH',
      commonType: 'COMMON',
      dateFrom: '2026-02-01T00:00:00Z',
      dateTo: '2099-01-01T00:00:00Z',
      documentIds: [documentId],
    }),
    fields: [
      { path: 'senderName', kind: 'string', refused: ['', 'TWELVE-CHARS', 'РОМАШКА'] },
      { path: 'commonType', ...commonTypes },
      { path: 'dateFrom', kind: 'datetime' },
      { path: 'dateTo', kind: 'datetime', refused: ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'] },
      { path: 'documentIds', kind: 'array' },
      { path: 'documentIds[0]', kind: 'uuid' },
    ],
  },
  {
    method: 'POST',
    path: '/senders/{id}/suspend',
    status: 200,
    id: side => side.draftId,
    bodyless: true,
    body: () => ({ reason: 'complaints' }),
    fields: [{ path: 'reason', kind: 'string' }],
  },
  { method: 'POST', path: '/senders/{id}/unsuspend', status: 200, id: side => side.draftId, bodyless: true },
  {
    method: 'POST',
    path: '/dispatches',
    status: 200,
    query: () => ({ dryRun: false }),
    parameters: [{ name: 'dryRun', kind: 'bool' }],
    body: ({ companyId, senderIds }) => ({
      ...aDispatch(companyId, Object.values(senderIds)),
      text: 'Hello, {name}',
      messages,
      schedule: { startAt: '2026-07-01T10:00:00+03:00', hours: [0, 9, 23], days: [1, 7] },
      callbackUrl: 'https://user:secret@callbacks.example.com:8443/tidings?shop=1',
      callbackEvents: ['delivered', 'sent'],
    }),
    fields: [
      id('companyId'),
      { path: 'name', kind: 'string', required: true, refused: ['', longName] },
      { path: 'senderIds', kind: 'array', required: true, refused: [[]] },
      { path: 'senderIds[0]', kind: 'int', refused: badIds },
      { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'FAX'] },
      { path: 'text', kind: 'string', required: true, refused: ['x'.repeat(10_001)] },
      ...recipients,
      { path: 'schedule', kind: 'object' },
      { path: 'schedule.startAt', kind: 'datetime', required: true },
      { path: 'schedule.hours', kind: 'array', required: true, refused: [[], [9, 9]] },
      { path: 'schedule.hours[1]', kind: 'int', refused: [24, -1, 100] },
      { path: 'schedule.days', kind: 'array', required: true, refused: [[], [1, 2, 1]] },
      { path: 'schedule.days[0]', kind: 'int', refused: [0, 8, -1] },
      {
        path: 'callbackUrl',
        kind: 'string',
        refused: [
          '',
          'ftp://example.com/',
          'example.com',
          'javascript:alert(1)',
          'http://',
          'http://a b/',
          '/relative',
        ],
      },
      { path: 'callbackEvents', kind: 'array' },
      { path: 'callbackEvents[0]', kind: 'enum', refused: ['DELIVERED', 'read', 'click'] },
    ],
  },
  {
    method: 'POST',
    path: '/dispatches/{id}/messages',
    status: 200,
    id: side => side.dispatchId,
    body: () => ({ messages }),
    fields: recipients,
  },
  { method: 'POST', path: '/dispatches/{id}/start', status: 200, id: side => side.runningId, bodyless: true },
  { method: 'POST', path: '/dispatches/{id}/stop', status: 200, id: side => side.runningId, bodyless: true },
  {
    method: 'GET',
    path: '/dispatches',
    status: 200,
    query: side => ({ companyId: side.companyId, status: 'CREATED', page: 1, perPage: 10 }),
    parameters: [
      companyParameter,
      { name: 'status', kind: 'enum', refused: ['created', 'SENT'] },
      page,
      perPage('perPage'),
    ],
  },
  { method: 'GET', path: '/dispatches/{id}', status: 200, id: side => side.dispatchId },
  { method: 'GET', path: '/dispatches/{id}/report', status: 200, id: side => side.dispatchId },
  {
    method: 'GET',
    path: '/messages',
    status: 200,
    query: side => ({ dispatchId: side.dispatchId, status: 'CREATED', page: 1, perPage: 100 }),
    parameters: [
      { ...companyParameter, name: 'dispatchId' },
      { name: 'status', kind: 'enum', refused: ['created', 'STARTED'] },
      page,
      perPage('perPage'),
    ],
  },
  {
    method: 'PUT',
    path: '/recipients',
    status: 200,
    body: ({ companyId }) => ({ companyId, msisdn: '79160000099', blacklist: true, comment: 'asked to' }),
    fields: [
      id('companyId'),
      {
        path: 'msisdn',
        kind: 'string',
        required: true,
        refused: ['', '1234', '1234567890123456', 'seven', '7916000009a', '++79160000099', '7916.000.00.99'],
      },
      { path: 'blacklist', kind: 'bool', required: true },
      { path: 'comment', kind: 'string' },
    ],
  },
  {
    method: 'GET',
    path: '/price/tariffs',
    status: 200,
    query: () => ({ senderType: 'PRO', brand: 'MTS', trafficType: 'PROMO', pricingModel: 'SCALED' }),
    parameters: [
      { name: 'senderType', kind: 'enum', refused: ['pro'] },
      { name: 'brand', kind: 'string' },
      { name: 'trafficType', kind: 'enum', refused: ['promo'] },
      { name: 'pricingModel', kind: 'enum', refused: ['fixed'] },
    ],
  },
  { method: 'GET', path: '/price/senders', status: 200 },
]

/** Every value of every enumeration that a request may carry. */
export const accepted: { endpoint: string; path: string; values: readonly unknown[] }[] = [
  { endpoint: 'POST /company', path: 'company.counteragentType', values: ['LEGAL', 'INDIVIDUAL'] },
  { endpoint: 'POST /company', path: 'company.counteragentInn', values: ['7700000001', '770000000001'] },
  { endpoint: 'POST /company', path: 'budget', values: [0, null, 0.0001, 999_999_999] },
  { endpoint: 'PUT /company/{id}', path: 'status', values: ['DISABLED', 'ACTIVE'] },
  { endpoint: 'PUT /company/{id}', path: 'budget', values: [0, null, 1e-7] },
  { endpoint: 'POST /senders', path: 'channelType', values: channelTypes },
  {
    endpoint: 'POST /senders',
    path: 'commonType',
    values: ['PROMO', 'COMMON', 'MULTISIGNATURE', 'INTERNATIONAL_VERIFY', 'INTERNATIONAL_COMMON'],
  },
  { endpoint: 'POST /senders', path: 'brand', values: ['MTS', 'BEELINE', 'MEGAFON', 'TELE2'] },
  {
    endpoint: 'POST /senders',
    path: 'senderName',
    values: ['A', ' A', 'ELEVENCHARS', '!"#$%&\'()*+', ',-./:;<=>?@', '_ 0'],
  },
  {
    endpoint: 'POST /senders',
    path: 'dateFrom',
    values: ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00.123+03:00', '2026-07-01T10:00:00-11:30'],
  },
  { endpoint: 'POST /senders', path: 'countryId', values: [1, 398, 112] },
  { endpoint: 'POST /dispatches', path: 'text', values: ['', 'x'.repeat(10_000), '🌼'.repeat(10_000)] },
  { endpoint: 'POST /dispatches', path: 'messages[0].substitutions', values: [{}, substitutionsOf(100)] },
  { endpoint: 'POST /dispatches/{id}/messages', path: 'messages[1].customText', values: ['', 'x'.repeat(10_001)] },
  { endpoint: 'POST /dispatches', path: 'callbackEvents', values: [['delivered'], ['sent'], ['failed', 'sent']] },
  {
    endpoint: 'POST /dispatches',
    path: 'callbackUrl',
    values: ['http://192.0.2.7:8080/', 'https://example.com', 'HTTP://EXAMPLE.COM/a?b=c#d'],
  },
  { endpoint: 'POST /dispatches', path: 'schedule.hours', values: [[0], Array.from({ length: 24 }, (_, i) => i)] },
  { endpoint: 'POST /dispatches', path: 'schedule.days', values: [[7], [1, 2, 3, 4, 5, 6, 7]] },
  { endpoint: 'GET /company', path: 'page', values: [1, 2, 1_000_000_000, Number.MAX_SAFE_INTEGER] },
  { endpoint: 'GET /company', path: 'per_page', values: [1, 1000] },
  { endpoint: 'GET /dispatches', path: 'status', values: ['CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] },
  { endpoint: 'GET /dispatches', path: 'page', values: [1, 1_000_000_000, Number.MAX_SAFE_INTEGER] },
  { endpoint: 'GET /dispatches', path: 'perPage', values: [1, 1000] },
  { endpoint: 'GET /messages', path: 'status', values: ['CREATED', 'SENT', 'DELIVERED', 'FAILED'] },
  { endpoint: 'GET /messages', path: 'page', values: [1, 1_000_000_000, Number.MAX_SAFE_INTEGER] },
  { endpoint: 'GET /messages', path: 'perPage', values: [1, 1000] },
  {
    endpoint: 'GET /senders',
    path: 'status',
    values: [
      'DRAFT',
      'PRE_REVIEW',
      'INTERNAL_REVIEW',
      'EXTERNAL_REVIEW',
      'AWAITING',
      'APPROVED',
      'REJECTED',
      'DENIED',
      'CLOSED',
    ],
  },
  { endpoint: 'GET /senders', path: 'channelType', values: channelTypes },
  { endpoint: 'GET /senders', path: 'countryCode', values: ['RU', 'KZ', 'XX'] },
  { endpoint: 'GET /price/tariffs', path: 'senderType', values: ['COMMON', 'START', 'PRO'] },
  { endpoint: 'GET /price/tariffs', path: 'trafficType', values: trafficTypes },
  { endpoint: 'GET /price/tariffs', path: 'pricingModel', values: ['FIXED', 'SCALED', 'MAU'] },
  { endpoint: 'GET /price/tariffs', path: 'brand', values: ['MTS', 'Motiv', ''] },
]
