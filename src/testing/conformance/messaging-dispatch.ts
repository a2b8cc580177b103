import { channelTypes } from '../../base/channel-types.ts'
import { numberOf } from '../factories.ts'
import type { Endpoint, Field, Parameter } from './endpoints.ts'
import { scheduleBody, scheduleFields } from './messaging-messages.ts'

/**
 * The inputs of `/dispatch` of the messaging API, one row each. The requests that must be refused are derived from
 * them.
 */

const longName = 'N'.repeat(256)

const common: Field[] = [
  { path: 'name', kind: 'string', required: true, refused: ['', longName] },
  { path: 'rate', kind: 'int', nullable: true, refused: [0, -1, 600_001] },
  { path: 'rateTerm', kind: 'scalar', refused: [true, 1.5, '', 'week'] },
  ...scheduleFields,
]

const commonBody = {
  name: 'Summer sale',
  rate: 600_000,
  rateTerm: 'minute',
  ...scheduleBody,
}

/** The bodies are valid at this moment. */
export const MOMENT = '2026-07-01T12:00:00Z'

export const plainDispatch: Endpoint = {
  method: 'POST',
  path: '/dispatch',
  status: 200,
  body: () => ({ ...commonBody, channelType: 'SMS', senderName: 'ROMASHKA', text: 'Hello, {name}' }),
  fields: [
    { path: 'channelType', kind: 'enum', required: true, refused: ['sms', 'FAX'] },
    { path: 'senderName', kind: 'string', required: true, refused: ['', 'N'.repeat(65), 'UNKNOWN'] },
    { path: 'text', kind: 'string', required: true, refused: ['', 'x'.repeat(10_001)] },
    ...common,
  ],
}

export const cascadeDispatch: Endpoint = {
  method: 'POST',
  path: '/dispatch',
  status: 200,
  body: () => ({
    ...commonBody,
    cascade: [
      {
        channelType: 'TELEGRAM',
        senderName: 'Shop',
        content: { contentType: 'text', text: 'Hello' },
        condition: 'not_read',
        ttl: 60,
      },
      { channelType: 'SMS', senderName: 'ROMASHKA', content: { text: 'Hello' } },
    ],
  }),
  fields: [
    {
      path: 'cascade',
      kind: 'array',
      nullable: true,
      refused: [[], [{ channelType: 'VK', senderName: 'Shop', content: 'Hello' }]],
    },
    { path: 'cascade[0]', kind: 'object' },
    { path: 'cascade[0].channelType', kind: 'enum', required: true, refused: ['vk'] },
    { path: 'cascade[1].senderName', kind: 'string', required: true, refused: ['', 'N'.repeat(65), 'UNKNOWN'] },
    { path: 'cascade[0].content', kind: 'object', required: true },
    { path: 'cascade[0].content.text', kind: 'string', required: true, refused: ['', 'x'.repeat(4097)] },
    { path: 'cascade[0].condition', kind: 'enum', nullable: true, refused: ['NOT_READ'] },
    { path: 'cascade[0].ttl', kind: 'int', nullable: true, refused: [0, 29, 59, 86_401] },
    { path: 'cascade[1].ttl', kind: 'int', nullable: true, refused: [60] },
    { path: 'cascade[1].condition', kind: 'enum', nullable: true, refused: ['not_read'] },
    ...common,
  ],
}

const substitutionsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, i]))

export const recipients: Endpoint = {
  method: 'POST',
  path: '/dispatch/{id}/messages',
  status: 200,
  body: () => [
    { destination: numberOf.MTS, substitutions: { name: 'Anna', age: 30, vip: true, city: null } },
    { destination: numberOf.TELE2 },
  ],
  fields: [
    { path: '[0]', kind: 'object' },
    { path: '[0].destination', kind: 'string', required: true },
    { path: '[0].substitutions', kind: 'object', nullable: true, refused: [substitutionsOf(101)] },
    { path: '[0].substitutions.name', kind: 'scalar', nullable: true },
  ],
}

const page: Parameter[] = [
  { name: 'page', kind: 'int', refused: ['0', '-1'] },
  { name: 'per_page', kind: 'int', refused: ['0', '-1', '1001', '1000000'] },
  { name: 'status', kind: 'enum', refused: ['CREATED', 'started', 'sent'] },
]

export const list: Endpoint = {
  method: 'GET',
  path: '/dispatch',
  status: 200,
  query: () => ({ page: 1, per_page: 10, status: 'created' }),
  parameters: page,
}

/** Values inside the bounds. */
export const taken: { path: string; values: readonly unknown[] }[] = [
  { path: 'text', values: ['x', '🌼'.repeat(10_000)] },
  { path: 'name', values: ['N'.repeat(255)] },
  { path: 'hours', values: [null, [], [0], Array.from({ length: 24 }, (_, i) => i)] },
  { path: 'days', values: [null, [], [7], [1, 2, 3, 4, 5, 6, 7]] },
  { path: 'localSendTime', values: [null, '2026-07-01 00:00:00', '2026-07-02 13:00:00'] },
  { path: 'localCompletionTime', values: [null, '2026-07-01 14:00:01', '2026-09-09 12:00:00'] },
  { path: 'callbackEvents', values: [null, [], ['delivered'], ['click', 'click']] },
  { path: 'callbackUrl', values: [null, 'http://192.0.2.7:8080/', 'HTTP://EXAMPLE.COM/a?b=c#d'] },
  { path: 'tags', values: [null, [], ['x'.repeat(100)]] },
  { path: 'senderName', values: ['sms_promo'] },
]

/** Channels whose names need no registration, except the two channels with their own rules. */
export const freeChannels = channelTypes.filter(
  channel => !['SMS', 'VIBER', 'WHATSAPP', 'VOICECODE', 'TEXT_TO_SPEECH'].includes(channel),
)
