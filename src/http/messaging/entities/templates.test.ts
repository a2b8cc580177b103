import { beforeAll, describe, expect, test } from 'vitest'
import { approveTemplate } from '../../../domain/templates/moderation.ts'
import { aMessagingSide, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { aSender } from '../../../testing/factories.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

const aTemplate = (given: object = {}) => ({
  channelType: 'SMS',
  templateType: 'TRANSACT',
  pattern: 'Order %d is ready',
  ...given,
})

const post = (body: object, headers: Record<string, string> = {}) =>
  api.call({ method: 'POST', path: '/templates', key: side.keys.ENTITY, body, headers })
const get = (path: string, key = side.keys.ENTITY) => api.call({ method: 'GET', path, key })
const put = (id: number, body: object) =>
  api.call({ method: 'PUT', path: `/templates/${id}`, key: side.keys.ENTITY, body })
const refusal = (msg: RegExp) => ({ error: { code: 4000, msg: expect.stringMatching(msg) } })

describe('a new template', () => {
  test('has every field, null when unset, and is valid from now on', async () => {
    api.now = new Date('2026-07-01T10:00:00.000Z')
    const { status, body } = await post(aTemplate())
    api.now = undefined
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(Number),
      channelType: 'SMS',
      templateType: 'TRANSACT',
      pattern: 'Order %d is ready',
      dateFrom: '2026-07-01T10:00:00.000Z',
      dateTo: null,
      senderNameId: null,
      senderName: null,
      brand: null,
      countryCode: null,
      content: null,
      managerComment: null,
      status: 'DRAFT',
      createdAt: expect.any(String),
      rejectedAt: null,
    })
    expect((await get(`/templates/${body.id}`)).body).toEqual(body)
  })

  test('bound to a sender name shows its name, brand and country', async () => {
    const { senderId } = await aSender(api.sql, side.companyId, { senderName: 'LANDYSH', brand: 'TELE2' })
    const { body } = await post(aTemplate({ senderNameId: senderId, dateTo: '2099-01-01T00:00:00+03:00' }))
    expect(body).toMatchObject({
      senderNameId: senderId,
      senderName: 'LANDYSH',
      brand: 'TELE2',
      countryCode: 'RU',
      dateTo: '2098-12-31T21:00:00.000Z',
    })
  })

  test('is bound to no name of another channel', async () => {
    const { body } = await post(aTemplate({ senderNameId: side.messengerNameId }))
    expect(body).toEqual(refusal(/^senderNameId: is a name of WHATSAPP$/))
  })

  test('given a sender name without its id is bound to that name', async () => {
    const inMts = await aSender(api.sql, side.companyId, { senderName: 'FIALKA', brand: 'MTS' })
    const inTele2 = await aSender(api.sql, side.companyId, { senderName: 'FIALKA', brand: 'TELE2' })
    await aSender(api.sql, side.companyId, { senderName: 'FIALKA', channelType: 'VIBER' })
    const bound = async (given: object) => {
      const { status, body } = await post(aTemplate({ senderName: 'FIALKA', ...given }))
      expect(status).toBe(201)
      return [body.senderNameId, body.senderName, body.brand]
    }
    expect(await bound({})).toEqual([inMts.senderId, 'FIALKA', 'MTS'])
    expect(await bound({ senderNameId: null, brand: null })).toEqual([inMts.senderId, 'FIALKA', 'MTS'])
    expect(await bound({ brand: 'TELE2', countryCode: 'RU' })).toEqual([inTele2.senderId, 'FIALKA', 'TELE2'])
    expect(await bound({ senderNameId: inTele2.senderId })).toEqual([inTele2.senderId, 'FIALKA', 'TELE2'])
    await api.sql`update senders set status = 'CLOSED' where sender_id = ${inMts.senderId}`
    expect(await bound({})).toEqual([inTele2.senderId, 'FIALKA', 'TELE2'])
  })

  test('given a sender name that it cannot be bound to is refused', async () => {
    const foreign = await aMessagingSide(api.sql)
    await aSender(api.sql, foreign.companyId, { senderName: 'CHUZHOY' })
    const over = await aSender(api.sql, side.companyId, { senderName: 'MIMOZA' })
    await api.sql`update senders set status = 'DENIED' where sender_id = ${over.senderId}`
    const refusalOf = async (given: object) => (await post(aTemplate(given))).body.error.msg
    expect(await refusalOf({ senderName: 'CHUZHOY' })).toBe(
      'senderName: the company has no sender name CHUZHOY for SMS: register it first, or leave senderName out to serve every name',
    )
    expect(await refusalOf({ senderName: 'ROMASHKA', brand: 'BEELINE' })).toMatch(
      /^senderName: the company has no sender name ROMASHKA for SMS \(BEELINE\): /,
    )
    expect(await refusalOf({ senderName: 'MIMOZA' })).toBe('senderName: the sender name is DENIED')
    expect(await refusalOf({ senderName: 'MIMOZA', senderNameId: side.draftId })).toBe(
      `senderName: sender name ${side.draftId} is ROMASHKA; give the name or the id, not both`,
    )
  })

  test("has the messenger's own template for WHATSAPP only, without unknown fields", async () => {
    const content = { name: 'order_ready', language: 'ru', extra: { deep: 1 } }
    const { body } = await post(aTemplate({ channelType: 'WHATSAPP', content }))
    expect(body.content).toEqual({ name: 'order_ready', language: 'ru' })
    expect((await post(aTemplate({ content }))).body).toEqual(refusal(/^content: /))
  })

  test('counts once with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'template' }
    const first = await post(aTemplate(), headers)
    const after = await printOfTables(api.sql)
    expect((await post(aTemplate(), headers)).text).toBe(first.text)
    const other = await post(aTemplate({ pattern: 'Another' }), headers)
    expect([other.status, other.body.error.code]).toEqual([422, 4220])
    expect(await printOfTables(api.sql)).toEqual(after)
  })
})

describe('a change', () => {
  test('is shown; null removes an optional field', async () => {
    const { body: made } = await post(
      aTemplate({
        channelType: 'WHATSAPP',
        senderNameId: side.messengerNameId,
        content: { name: 'order', language: 'en_US' },
        dateTo: '2099-01-01T00:00:00Z',
      }),
    )
    const { status, body } = await put(made.id, { templateType: 'AUTHORIZE', pattern: 'Code %d{1,6}' })
    expect(status).toBe(200)
    expect(body).toEqual({ ...made, templateType: 'AUTHORIZE', pattern: 'Code %d{1,6}' })
    expect((await put(made.id, {})).body).toEqual(body)
    const bare = { senderNameId: null, content: null, dateTo: null }
    expect((await put(made.id, bare)).body).toEqual({
      ...body,
      ...bare,
      senderName: null,
      brand: null,
      countryCode: null,
    })
  })

  test('may name the sender name instead of its id', async () => {
    const { body: made } = await post(aTemplate())
    expect((await put(made.id, { senderName: 'ROMASHKA' })).body).toMatchObject({ senderNameId: side.draftId })
    const named = await put(made.id, { senderName: 'LANDYSH', senderNameId: null })
    expect(named.body).toMatchObject({ senderName: 'LANDYSH' })
    expect((await put(made.id, { senderName: 'ROMASHKA', senderNameId: null })).body).toMatchObject({
      senderNameId: side.draftId,
    })
    expect((await put(made.id, { senderName: 'NOBODY' })).body).toEqual(refusal(/^senderName: the company has no/))
    await approveTemplate(api.sql, made.id, new Date())
    const dateTo = '2099-01-01T00:00:00.000Z'
    expect((await put(made.id, { senderName: 'ROMASHKA', dateTo })).body).toMatchObject({ dateTo })
    expect((await put(made.id, { senderName: 'LANDYSH' })).body).toEqual(refusal(/^senderNameId: cannot be changed/))
  })

  test('cannot change the reviewed fields of an approved template, but can close it', async () => {
    const { id } = (await post(aTemplate())).body
    await approveTemplate(api.sql, id, new Date())
    expect((await put(id, { pattern: 'Another' })).body).toEqual(refusal(/^pattern: cannot be changed/))
    expect((await put(id, { senderNameId: null })).body).toEqual(refusal(/^senderNameId: cannot be changed/))
    const { body } = await put(id, { dateTo: '2099-01-01T00:00:00Z' })
    expect(body).toMatchObject({ status: 'APPROVED', dateTo: '2099-01-01T00:00:00.000Z' })
  })
})

test('the list is paged, oldest first, and leaves what the filters ask for', async () => {
  const own = await aMessagingSide(api.sql)
  const mine = (body: object) => api.call({ method: 'POST', path: '/templates', key: own.keys.ENTITY, body })
  const ids = [own.templateId]
  for (const given of [
    { senderNameId: own.draftId },
    { templateType: 'AUTHORIZE' },
    { channelType: 'WHATSAPP', senderNameId: own.messengerNameId },
    { channelType: 'VIBER', templateType: 'PROMO' },
  ]) {
    ids.push((await mine(aTemplate(given))).body.id)
  }
  await approveTemplate(api.sql, ids[2]!, new Date())
  const list = async (query: string) => {
    const { body } = await get(`/templates${query}`, own.keys.ENTITY)
    return [body.total, ...body.items.map((item: { id: number }) => ids.indexOf(item.id))]
  }
  expect(await list('')).toEqual([5, 0, 1, 2, 3, 4])
  expect(await list('?page=2&per_page=2')).toEqual([5, 2, 3])
  expect(await list('?page=4&per_page=2')).toEqual([5])
  expect(await list('?channel_type=SMS')).toEqual([2, 1, 2])
  expect(await list('?channel_type=VIBER&channel_type=WHATSAPP')).toEqual([3, 0, 3, 4])
  expect(await list('?status=APPROVED')).toEqual([1, 2])
  expect(await list(`?template_id=${ids[4]}&template_id=${ids[1]}&template_id=${side.templateId}`)).toEqual([2, 1, 4])
  expect(await list('?sender_name=ROMASHKA')).toEqual([2, 1, 3])
  expect(await list('?sender_name=ROMASHKA&channel_type=SMS')).toEqual([1, 1])
  expect(await list('?template_type=PROMO&template_type=AUTHORIZE')).toEqual([2, 2, 4])
  expect(await list('?sender_name=nobody')).toEqual([0])
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
