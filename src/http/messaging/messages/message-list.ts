import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { allChannelTypes, trafficTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { countryNameOf } from '../../../base/phone/countries.ts'
import { normaliseNumber } from '../../../base/phone/phone-number.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import type { Pool } from '../../../db/sql.ts'
import { directions, sendingMethods, statusWords } from '../../../domain/message-search/found-message.ts'
import { createMessageReader, type MessageReader } from '../../../domain/message-search/message-reader.ts'
import { requireMessage } from '../../../domain/message-search/message-search.ts'
import { type Filter, MOST_FOUND, type Order, sortKeys } from '../../../domain/message-search/search.ts'
import { type Context, readingOf } from '../../context.ts'
import { Answer, answers, DateTime, Defaulted, OneOf, SomeOf } from '../../schemas.ts'
import { MessageObject, presentMessage } from './message-object.ts'

/** Long enough for any id, name or tag. Without NUL, which PostgreSQL cannot store. */
const word = { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$', description: 'text without NUL' }
const Word = Type.Optional(Type.Unsafe<string>(word))
const Words = Type.Optional(Type.Unsafe<string[]>({ type: 'array', items: word, maxItems: 1000 }))
const Ids = Type.Optional(
  Type.Unsafe<string[]>({
    type: 'array',
    items: { type: 'string', pattern: '^[1-9][0-9]{0,14}$', description: 'a positive integer' },
    maxItems: 1000,
  }),
)
const YesOrNo = Type.Optional(Type.Boolean())
const Time = Type.Optional(DateTime)

const Filters = Type.Object({
  message_uuid: Words,
  external_message_id: Words,
  dispatch_id: Ids,
  destination: Words,
  status: SomeOf(statusWords),
  traffic_center_id: Ids,
  tags: Words,
  sending_method: SomeOf(sendingMethods),
  channel_type: SomeOf(allChannelTypes),
  traffic_type: SomeOf(trafficTypes),
  template_id: Ids,
  sender_name: Words,
  direction: SomeOf(directions),
  time_from: Time,
  time_to: Time,
  content: Word,
  content_nor: Word,
  cascade_message_uuid: Type.Optional(Type.String({ format: 'uuid' })),
  root: YesOrNo,
  ready_to_stop: YesOrNo,
  country_code: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'an ISO 3166 code of two letters' })),
  dispatch: YesOrNo,
})

const Sort = Defaulted(OneOf([...sortKeys, ...sortKeys.map(key => `-${key}` as const)], { default: '-createdTime' }))

const listSchema = {
  tags: ['Messages'],
  summary: 'Find messages',
  description: [
    'A filter that is repeated means any of its values; different filters all apply. `message_uuid` finds a message by',
    'the client’s own id too. `time_from` and `time_to` bound `sentTime`, or `statusTime` of messages that are `unsent`.',
    `\`page * per_page\` is at most ${MOST_FOUND}; \`total\` is exact up to that number, and then stays there.`,
  ].join('\n'),
  querystring: Type.Object({
    ...Filters.properties,
    sort: Sort,
    page: Defaulted(Type.Integer({ minimum: 1, maximum: MOST_FOUND, default: 1 })),
    per_page: Defaulted(Type.Integer({ minimum: 1, maximum: MOST_FOUND, default: 100 })),
  }),
  response: answers(
    200,
    'A page of messages',
    Answer({ total: Type.Integer({ maximum: MOST_FOUND }), items: Type.Array(MessageObject) }),
  ),
}

const oneSchema = {
  tags: ['Messages'],
  summary: 'Read a message',
  description: 'By its `messageUuid`, else the newest with that `externalMessageId`.',
  params: Type.Object({ id: Type.Unsafe<string>(word) }),
  response: answers(200, 'The message', MessageObject),
}

export const messageListRoutes =
  ({ sql, numbering, clock, reading }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    const { read } = readingOf({ sql, reading })
    const readers = new Map<Pool, MessageReader>()
    const readerOf = (pool: Pool) => {
      const reader = readers.get(pool) ?? createMessageReader(pool)
      readers.set(pool, reader)
      return reader
    }

    api.get('/message', { schema: listSchema }, async request => {
      const { sort, page, per_page: perPage, ...query } = request.query
      if (page * perPage > MOST_FOUND) throw invalid(`page: page * per_page must be at most ${MOST_FOUND}`)
      const paging = { order: orderOf(sort), page, perPage }
      const filter = filterOf(query)
      const search = (pool: Pool) => readerOf(pool).search(request.caller.companyId, filter, paging)
      const { total, items } = await (isForOwnMessages(filter) ? search(sql) : read(search))
      return { total, items: items.map(item => presentMessage(item, numbering(), clock())) }
    })

    api.get('/message/:id', { schema: oneSchema }, async request => {
      const message = await requireMessage(sql, request.caller.companyId, request.params.id)
      return presentMessage(message, numbering(), clock())
    })
  }

/** By an id or a number: a client may ask for messages that were accepted a moment ago. These searches cost little. */
const isForOwnMessages = ({ messageIds, externalIds, cascadeUuid, destinations }: Filter) =>
  (messageIds ?? externalIds ?? cascadeUuid ?? destinations) !== undefined

const orderOf = (sort: string): Order => ({
  by: sort.replace('-', '') as Order['by'],
  descending: sort.startsWith('-'),
})

function filterOf(query: Type.Static<typeof Filters>): Filter {
  refuseUnknownCountry(query.country_code)
  return {
    directions: query.direction ?? ['outbound'],
    messageIds: distinct(query.message_uuid),
    externalIds: distinct(query.external_message_id),
    dispatchIds: distinct(query.dispatch_id)?.map(Number),
    destinations: distinct(query.destination?.flatMap(spellingsOf)),
    statuses: query.status,
    centerIds: query.traffic_center_id?.map(Number),
    tags: query.tags,
    methods: query.sending_method,
    channelTypes: query.channel_type,
    trafficTypes: query.traffic_type,
    templateIds: query.template_id?.map(Number),
    senderNames: query.sender_name,
    from: timeOf(query.time_from),
    to: timeOf(query.time_to),
    containing: query.content,
    notContaining: query.content_nor,
    cascadeUuid: query.cascade_message_uuid?.toLowerCase(),
    isRoot: query.root,
    isReadyToStop: query.ready_to_stop,
    countryCode: query.country_code,
    isOfDispatch: query.dispatch,
  }
}

function refuseUnknownCountry(code: string | undefined) {
  if (code !== undefined && countryNameOf(code) === undefined) throw invalid('country_code: there is no such country')
}

const distinct = (values: string[] | undefined) => values && [...new Set(values)]

/**
 * A number is stored as digits. A destination that is no valid number is stored as given. A plus that was not escaped
 * in the address arrives as a space.
 */
const spellingsOf = (written: string) => [normaliseNumber(written.replace(/^ /, '+')) ?? written, written]

const timeOf = (text: string | undefined) => (text === undefined ? undefined : readTimestamp(text)!.time)
