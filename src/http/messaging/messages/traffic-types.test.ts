import { beforeEach, describe, expect, test } from 'vitest'
import { money } from '../../../base/money.ts'
import { approveTemplate, denyTemplate } from '../../../domain/templates/moderation.ts'
import type { NewTemplate } from '../../../domain/templates/template.ts'
import { createTemplate } from '../../../domain/templates/templates.ts'
import { numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld, type World } from '../../../testing/world.ts'

/** What a single message is about decides on its price and on whose turn it is. */

const api = useMessagingApi()
let world: World
let key: string

beforeEach(async () => {
  world = await aWorld(api.sql, { commonType: 'PROMO' }) // names whose price depends on the traffic type
  key = (await aKey(api.sql, world.companyId)).key
})

async function aTemplate(trafficType: string, pattern: string): Promise<number> {
  const template = {
    channelType: 'SMS',
    trafficType,
    pattern,
    validFrom: new Date('2026-01-01T00:00:00Z'),
    validTo: null,
    senderId: null,
    content: null,
  } as NewTemplate
  const now = new Date()
  const { templateId } = await api.sql.begin(sql => createTemplate(sql, world.companyId, template, now))
  await approveTemplate(api.sql, templateId, now)
  return templateId
}

const sms = (content: string, given: object = {}) => ({ ...sent, content, ...given })
const sent = { channelType: 'SMS', senderName: 'ROMASHKA', destination: numberOf.MTS }

/** As it is kept, with the priority of its lane; and as it is shown. */
async function kept(body: object) {
  const answer = await api.call({ method: 'POST', path: '/message', body, key })
  expect(answer).toMatchObject({ status: 200, body: { errors: false } })
  const uuid = answer.body.items[0].messageUuid
  const [row] = await api.sql`
    select m.traffic_type, m.template_id, m.price, l.priority
    from messages m join lanes l using (company_id, lane_id) where m.message_uuid = ${uuid}`
  const shown = await api.call({ method: 'GET', path: `/message/${uuid}`, key })
  expect(shown.body).toMatchObject({ trafficType: row!.trafficType, templateId: row!.templateId })
  return row!
}

describe('the traffic type', () => {
  const promo = { trafficType: 'PROMO', templateId: null, price: money('6.40'), priority: 3 }

  test('is that of the matching template, with its price and priority', async () => {
    const order = await aTemplate('TRANSACT', 'Order %d is ready')
    const news = await aTemplate('SERVICE', 'News: %w{1,5}')
    const code = await aTemplate('AUTHORIZE', 'Your code is %d')
    expect(await kept(sms('Order 17 is ready'))).toEqual({
      trafficType: 'TRANSACT',
      templateId: order,
      price: money('3.20'),
      priority: 1,
    })
    expect(await kept(sms('News: we have moved'))).toEqual({
      trafficType: 'SERVICE',
      templateId: news,
      price: money('4.10'),
      priority: 2,
    })
    expect(await kept(sms('Your code is 4321'))).toEqual({
      trafficType: 'AUTHORIZE',
      templateId: code,
      price: money('3.90'),
      priority: 0,
    })
    expect(await kept(sms('Buy now'))).toEqual(promo)
  })

  test('follows an approval and a denial at once: the next message has it, or has it no more', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await kept(sms('Order 17 is here'))).toEqual(promo) // reads the templates as they are
      const order = await aTemplate('TRANSACT', 'Order %d is here')
      expect(await kept(sms('Order 17 is here'))).toMatchObject({ templateId: order, price: money('3.20') })
      await denyTemplate(api.sql, order, undefined, new Date())
      expect(await kept(sms('Order 17 is here'))).toEqual(promo)
    }
  })

  test('follows an approval at once with an Idempotency-Key too', async () => {
    const headers = (key: string) => ({ 'idempotency-key': key })
    const post = (key_: string) =>
      api.call({ method: 'POST', path: '/message', body: sms('Order 17 is here'), key, headers: headers(key_) })
    const typeOf = async ({ body }: Awaited<ReturnType<typeof post>>) =>
      (await api.call({ method: 'GET', path: `/message/${body.items[0].messageUuid}`, key })).body.trafficType
    expect(await typeOf(await post('before'))).toBe('PROMO')
    await aTemplate('TRANSACT', 'Order %d is here')
    const first = await post('after')
    expect(await typeOf(first)).toBe('TRANSACT')
    expect((await post('after')).body).toEqual(first.body)
  })

  test('that is claimed holds, but AUTHORIZE only with a template of that type', async () => {
    const order = await aTemplate('TRANSACT', 'Order %d is ready')
    expect(await kept(sms('Hello', { trafficType: 'SERVICE' }))).toEqual({
      trafficType: 'SERVICE',
      templateId: null,
      price: money('4.10'),
      priority: 2,
    })
    expect(await kept(sms('Your code is 4321', { trafficType: 'AUTHORIZE' }))).toEqual(promo)
    expect(await kept(sms('Order 17 is ready', { trafficType: 'AUTHORIZE' }))).toEqual({ ...promo, templateId: order })
  })

  test.each([
    ['FLASHCALL', 'anyone', '4321'],
    ['VOICECODE', 'voicecode', { contentType: 'text', text: 'Your code is 4321' }],
  ])('of a %s is AUTHORIZE, with any claimed type', async (channelType, senderName, content) => {
    for (const trafficType of [null, 'PROMO', 'AUTHORIZE']) {
      const code = await kept({ ...sent, channelType, senderName, content, trafficType })
      expect(code).toMatchObject({ trafficType: 'AUTHORIZE', templateId: null, priority: 0 })
    }
  })
})
