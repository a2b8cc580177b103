import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7 } from '../../../base/uuid7.ts'
import { OTHER_BRAND_ID } from '../../../domain/numbering/brand.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { aCompany, anApprovedSender, aPartner } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'

const api = useMessagingApi()
const HOUR_MS = 3600_000

let companyId: number
let key: string

beforeAll(async () => {
  companyId = await aCompany(api.sql, await aPartner(api.sql))
  key = (await aKey(api.sql, companyId)).key
})

const get = (path: string, withKey = key) => api.call({ method: 'GET', path, key: withKey })
const uuidsAt = async (path: string, withKey = key) =>
  (await get(path, withKey)).body.items.map((item: { messageUuid: string }) => item.messageUuid)

const insert = (table: string, row: Record<string, unknown>) =>
  api.sql`
    insert into ${api.sql(table)}
    select * from jsonb_populate_record(null::${api.sql(table)}, ${api.sql.json(row as never)})`

/** A single message. Columns that are not given have the values of a new message. */
async function aMessage(given: Record<string, unknown> = {}): Promise<string> {
  const uuid = uuid7(new Date())
  await insert('messages', {
    company_id: companyId,
    message_uuid: uuid,
    price: 2.5,
    status: 'CREATED',
    parts: 1,
    brand_id: 1,
    destination: '79160000001',
    text: 'Ваш заказ готов',
    channel_type: 'SMS',
    sender_name: 'ROMASHKA',
    traffic_type: 'SERVICE',
    sending_method: 'API',
    options: {},
    ...given,
  })
  return given.message_uuid === undefined ? uuid : String(given.message_uuid)
}

const iso = (ms: number) => new Date(ms).toISOString()

describe('the message object', () => {
  test('of a single message has every key, with what the client said', async () => {
    const created = Date.now()
    const uuid = uuid7(new Date(created))
    await aMessage({
      message_uuid: uuid,
      external_id: 'order-1',
      center_id: 3,
      template_id: 4,
      content: { contentType: 'text', text: 'Ваш заказ готов' },
      options: {
        tags: ['зима'],
        ttl: 600,
        hours: [9, 10],
        days: [1],
        useLocalTime: false,
        localSendTime: '2026-01-01 10:00:00',
        localCompletionTime: '2026-01-02 10:00:00',
        shortUrl: true,
      },
      callback_url: 'https://example.com/status',
      callback_events: ['sent', 'read'],
      channel_type: 'VIBER',
      status: 'DELIVERED',
      parts: 2,
      price: 5,
      final_price: 4.25,
      sent_at: iso(created + 1000),
      final_at: iso(created + 2000),
      read_at: iso(created + 3000),
      cascade_uuid: uuid,
      cascade_step: 1,
    })
    expect((await get(`/message/${uuid}`)).body).toEqual({
      createdTime: iso(created),
      channelType: 'VIBER',
      direction: 'outbound',
      sendingMethod: 'API',
      trafficType: 'SERVICE',
      templateId: 4,
      dispatchId: null,
      messageUuid: uuid,
      externalMessageId: 'order-1',
      trafficCenterId: 3,
      senderName: 'ROMASHKA',
      destination: '79160000001',
      brand: 'MTS',
      country: 'Россия',
      region: expect.stringContaining('Москва'),
      content: 'Ваш заказ готов',
      specialContent: { contentType: 'text', text: 'Ваш заказ готов' },
      tags: ['зима'],
      ttl: 600,
      hours: [9, 10],
      days: [1],
      localSendTime: '2026-01-01 10:00:00',
      localCompletionTime: '2026-01-02 10:00:00',
      useLocalTime: false,
      callbackEvents: ['sent', 'read'],
      callbackUrl: 'https://example.com/status',
      shortUrl: true,
      totalParts: 2,
      price: { totalPrice: 4.25, currency: 'RUB', invoicedParts: 2, final: true },
      sentTime: iso(created + 1000),
      statusTime: iso(created + 2000),
      status: 'delivered',
      readStatus: 'read',
      readStatusTime: iso(created + 3000),
      cascadeMessageUuid: uuid,
      cascadeStep: 1,
      errorCode: null,
    })
  })

  test('of a new message has null for values that are not known yet', async () => {
    const uuid = await aMessage({ destination: '375290000004', brand_id: 0, sender_name: 'sms_promo' })
    const { body } = await get(`/message/${uuid}`)
    expect(body).toEqual({
      createdTime: body.createdTime,
      channelType: 'SMS',
      direction: 'outbound',
      sendingMethod: 'API',
      trafficType: 'SERVICE',
      templateId: null,
      dispatchId: null,
      messageUuid: uuid,
      externalMessageId: null,
      trafficCenterId: null,
      senderName: 'sms_promo',
      destination: '375290000004',
      brand: null,
      country: 'Беларусь',
      region: null,
      content: 'Ваш заказ готов',
      specialContent: null,
      tags: null,
      ttl: null,
      hours: null,
      days: null,
      localSendTime: null,
      localCompletionTime: null,
      useLocalTime: true,
      callbackEvents: null,
      callbackUrl: null,
      shortUrl: false,
      totalParts: 1,
      price: { totalPrice: 2.5, currency: 'RUB', invoicedParts: 1, final: false },
      sentTime: null,
      statusTime: body.createdTime,
      status: 'sending',
      readStatus: null,
      readStatusTime: null,
      cascadeMessageUuid: null,
      cascadeStep: null,
      errorCode: null,
    })
    expect((await get(`/message?message_uuid=${uuid}`)).body).toEqual({ total: 1, items: [body] })
  })

  test("of a partner's dispatch takes channel, name, hours and callbacks from it", async () => {
    const { senderId } = await anApprovedSender(api.sql, companyId, { senderName: 'LUTIK' })
    const [made] = await api.sql<{ id: number }[]>`
      insert into dispatch_ids (company_id) values (${companyId}) returning dispatch_id as id`
    const dispatchId = made!.id
    const uuid = uuid7(new Date())
    await api.sql`
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids, start_at,
        offset_minutes, hours, days, callback_url, callback_events, first_uuid, last_uuid)
      values (${companyId}, ${dispatchId}, 'Осень', 'SMS', 'PROMO', 'Скоро осень', '{1}', '2026-01-01T07:00:00Z', 180,
        '{9,10}', '{1,2}', 'https://example.com/p', '{delivered}', ${uuid}, ${uuid})`
    await insert('messages', {
      company_id: companyId,
      message_uuid: uuid,
      dispatch_id: dispatchId,
      position: 0,
      sender_id: senderId,
      price: 0,
      final_price: 0,
      status: 'FAILED',
      error_code: 7401,
      parts: 0,
      brand_id: 0,
      destination: 'no number',
      text: null,
      final_at: iso(Date.now()),
    })
    const { body } = await get(`/message?dispatch_id=${dispatchId}&dispatch=true&sending_method=DISPATCH`)
    expect(body.total).toBe(1)
    expect(body.items[0]).toMatchObject({
      channelType: 'SMS',
      sendingMethod: 'DISPATCH',
      trafficType: 'PROMO',
      dispatchId,
      senderName: 'LUTIK',
      destination: 'no number',
      brand: null,
      country: null,
      region: null,
      content: null,
      hours: [9, 10],
      days: [1, 2],
      localSendTime: '2026-01-01 10:00:00',
      useLocalTime: false,
      shortUrl: false,
      callbackUrl: 'https://example.com/p',
      callbackEvents: ['delivered'],
      totalParts: 0,
      price: { totalPrice: 0, currency: 'RUB', invoicedParts: 0, final: true },
      sentTime: null,
      status: 'unsent',
      errorCode: 7401,
    })
  })

  test('of an inbound message has the subscriber as destination, and its keys are the same', async () => {
    const uuid = uuid7(new Date())
    const receivedAt = iso(Date.now() - 1000)
    await insert('inbound_messages', {
      company_id: companyId,
      message_uuid: uuid,
      channel_type: 'WHATSAPP',
      sender_name: 'ROMASHKA',
      destination: '79030000001',
      text: 'Спасибо',
      center_id: 5,
      received_at: receivedAt,
      is_stop: false,
    })
    const { body } = await get(`/message/${uuid}`)
    const outbound = (await get(`/message/${await aMessage()}`)).body
    expect(Object.keys(body)).toEqual(Object.keys(outbound))
    expect(body).toMatchObject({
      direction: 'inbound',
      channelType: 'WHATSAPP',
      sendingMethod: null,
      trafficType: null,
      trafficCenterId: 5,
      senderName: 'ROMASHKA',
      destination: '79030000001',
      brand: 'BEELINE',
      country: 'Россия',
      content: 'Спасибо',
      specialContent: { contentType: 'text', text: 'Спасибо' },
      useLocalTime: null,
      shortUrl: null,
      totalParts: 1,
      price: { totalPrice: 0, currency: 'RUB', invoicedParts: 0, final: true },
      sentTime: receivedAt,
      statusTime: receivedAt,
      status: 'inbound_sent',
      readStatus: null,
      errorCode: null,
    })
  })

  test('is delivered and read, unread after its lifetime, and neither before or in a channel without reads', async () => {
    const ago = (hours: number) => iso(Date.now() - hours * HOUR_MS)
    const delivered = (channel: string, sentHours: number, more = {}) =>
      aMessage({
        channel_type: channel,
        status: 'DELIVERED',
        sent_at: ago(sentHours),
        final_at: ago(sentHours),
        ...more,
      })
    const readingOf = async (uuid: string) => {
      const { readStatus, readStatusTime } = (await get(`/message/${uuid}`)).body
      return [readStatus, readStatusTime]
    }
    expect(await readingOf(await delivered('VIBER', 26))).toEqual(['unread', expect.any(String)])
    const expiry = ago(1)
    expect(await readingOf(await delivered('VK', 2, { expires_at: expiry }))).toEqual(['unread', expiry])
    expect(await readingOf(await delivered('TELEGRAM', 24))).toEqual([null, null])
    expect(await readingOf(await delivered('SMS', 26))).toEqual([null, null])
    expect(await readingOf(await aMessage({ channel_type: 'VIBER', status: 'SENT', sent_at: ago(26) }))).toEqual([
      null,
      null,
    ])
  })

  test.each([
    [{ status: 'SENT', sent_at: iso(0) }, 'sent', { invoicedParts: 1, final: false }],
    [
      { status: 'FAILED', sent_at: iso(0), final_at: iso(1), final_price: 0 },
      'undelivered',
      { invoicedParts: 0, final: true },
    ],
    [{ status: 'FAILED', final_at: iso(1), final_price: 0 }, 'unsent', { invoicedParts: 0, final: true }],
  ])('%o is %s', async (columns, status, price) => {
    expect((await get(`/message/${await aMessage(columns)}`)).body).toMatchObject({ status, price })
  })

  test('names another operator than the four by its own name', async () => {
    const numbering = await loadNumbering(api.sql)
    const numbers = Array.from({ length: 1000 }, (_, code) => `79${String(code).padStart(3, '0')}000001`)
    const destination = numbers.find(number => numbering.lookup(number)?.brandId === OTHER_BRAND_ID)!
    const { body } = await get(`/message/${await aMessage({ destination, brand_id: OTHER_BRAND_ID })}`)
    expect(body.brand).toBe(numbering.lookup(destination)!.operator)
  })
})

describe('GET /message', () => {
  test('shows outbound messages, newest first, and inbound ones when asked', async () => {
    const company = await aCompany(api.sql, await aPartner(api.sql))
    const { key: own } = await aKey(api.sql, company)
    const now = Date.now()
    const keys = [3, 2, 1].map(ago => uuid7(new Date(now - ago * 1000)))
    await aMessage({ company_id: company, message_uuid: keys[0] })
    await insert('inbound_messages', {
      company_id: company,
      message_uuid: keys[1],
      channel_type: 'WHATSAPP',
      sender_name: 'ROMASHKA',
      destination: '79160000001',
      text: 'Да',
      center_id: 1,
      received_at: iso(now),
      is_stop: false,
    })
    await aMessage({ company_id: company, message_uuid: keys[2] })
    expect(await uuidsAt('/message', own)).toEqual([keys[2], keys[0]])
    expect(await uuidsAt('/message?direction=inbound', own)).toEqual([keys[1]])
    expect(await uuidsAt('/message?direction=inbound&direction=outbound', own)).toEqual([keys[2], keys[1], keys[0]])
    expect(await uuidsAt('/message?sort=createdTime&per_page=1&page=2', own)).toEqual([keys[2]])
    expect(await uuidsAt('/message?whatever=1&unknown=2', own)).toEqual([keys[2], keys[0]])
    expect(await uuidsAt('/message/', own)).toEqual([keys[2], keys[0]])
  })

  test('of a company is seen with every MESSAGE key of it, and with no other', async () => {
    const uuid = await aMessage({ external_id: 'secret-1' })
    const { key: second } = await aKey(api.sql, companyId, 'MESSAGE', { center: 'Shop' })
    expect(await uuidsAt(`/message?message_uuid=${uuid}`, second)).toEqual([uuid])
    const { key: foreign } = await aKey(api.sql, await aCompany(api.sql, await aPartner(api.sql)))
    for (const path of [`/message?message_uuid=${uuid}`, '/message?external_message_id=secret-1', '/message']) {
      expect((await get(path, foreign)).body).toEqual({ total: 0, items: [] })
    }
    for (const id of [uuid, 'secret-1']) {
      expect(await get(`/message/${id}`, foreign)).toMatchObject({ status: 404, body: { error: { code: 4040 } } })
    }
    const { key: entity } = await aKey(api.sql, companyId, 'ENTITY')
    expect(await get('/message', entity)).toMatchObject({ status: 403, body: { error: { code: 4030 } } })
  })

  test('repeated filters mean any of the values, and a number is found however it is written', async () => {
    const first = await aMessage({ external_id: 'twice-1', destination: '79260000009' })
    const second = await aMessage({ external_id: 'twice-2', destination: '79260000009' })
    const newestFirst = [first, second].sort().reverse() // of one millisecond, by their uuids
    expect(await uuidsAt('/message?external_message_id=twice-1&external_message_id=twice-2')).toEqual(newestFirst)
    expect(await uuidsAt(`/message?message_uuid=twice-1&message_uuid=${second}`)).toEqual(newestFirst)
    const again = `message_uuid=${second}&message_uuid=twice-2&message_uuid=${second.toUpperCase()}`
    expect(await uuidsAt(`/message?${again}&message_uuid=twice-2`)).toEqual([second])
    expect(await uuidsAt('/message?external_message_id=twice-1&external_message_id=twice-1')).toEqual([first])
    for (const written of ['79260000009', '%2B79260000009', '89260000009', '8%20(926)%20000-00-09']) {
      expect(await uuidsAt(`/message?destination=${written}`), written).toEqual(newestFirst)
    }
  })

  test.each([
    ['page=0', 'page'],
    ['page=x', 'page'],
    ['per_page=0', 'per_page'],
    ['per_page=10001', 'per_page'],
    ['page=101&per_page=100', 'page'],
    ['page=2&per_page=10000', 'page'],
    ['status=DELIVERED', 'status'],
    ['status=sent&status=never', 'status'],
    ['direction=up', 'direction'],
    ['channel_type=FAX', 'channel_type'],
    ['traffic_type=NONE', 'traffic_type'],
    ['sending_method=FAX', 'sending_method'],
    ['dispatch_id=x', 'dispatch_id'],
    ['dispatch_id=0', 'dispatch_id'],
    ['traffic_center_id=-1', 'traffic_center_id'],
    ['template_id=1.5', 'template_id'],
    ['time_from=yesterday', 'time_from'],
    ['time_to=2026-01-01T00:00:00', 'time_to'],
    ['cascade_message_uuid=1', 'cascade_message_uuid'],
    ['root=maybe', 'root'],
    ['ready_to_stop=2', 'ready_to_stop'],
    ['dispatch=yes', 'dispatch'],
    ['country_code=Russia', 'country_code'],
    ['country_code=ZZ', 'country_code'],
    ['sort=price', 'sort'],
    ['content=', 'content'],
    ['content=a&content=b', 'content'],
    ['content=%00', 'content'],
    ['tags=a%00', 'tags'],
    ['message_uuid=%00', 'message_uuid'],
  ])('?%s is 4000 and names the parameter', async (query, name) => {
    const { status, body } = await get(`/message?${query}`)
    expect([status, body.error.code]).toEqual([400, 4000])
    expect(body.error.msg).toMatch(new RegExp(`^${name}(\\[\\d+\\])?: `))
  })

  test.each(['page=100&per_page=100', 'page=1&per_page=10000', 'page=10000&per_page=1'])(
    '?%s is taken',
    async query => {
      expect((await get(`/message?${query}`)).status).toBe(200)
    },
  )
})

describe('GET /message/{id}', () => {
  test("finds the newest of several with the client's own id", async () => {
    await aMessage({ external_id: 'same/id ?' })
    const newest = await aMessage({ external_id: 'same/id ?', message_uuid: uuid7(new Date(Date.now() + 1000)) })
    expect((await get(`/message/${encodeURIComponent('same/id ?')}`)).body.messageUuid).toBe(newest)
  })

  test.each(['nobody', '01900000-0000-7000-8000-00000000ffff', '%00', 'a%00b', 'x'.repeat(300)])(
    'of %s, which does not exist, is 404',
    async id => {
      expect(await get(`/message/${id}`)).toMatchObject({ status: 404, body: { error: { code: 4040 } } })
    },
  )
})
