import { beforeAll, describe, expect, test } from 'vitest'
import { money } from '../../base/money.ts'
import { useDatabase } from '../../testing/database.ts'
import { aChannel, aGateway, useEngines } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { anApprovedSender } from '../../testing/factories.ts'
import { aWorld, billingZone, type World } from '../../testing/world.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { approveTemplate, denyTemplate } from '../templates/moderation.ts'
import type { NewTemplate } from '../templates/template.ts'
import { createTemplate } from '../templates/templates.ts'
import { addRecipients, createClientDispatch } from './client-dispatches.ts'
import { createDispatch } from './creating.ts'
import type { ClientDispatch, Recipient } from './dispatch.ts'
import { dryRunDispatch } from './dry-run.ts'
import { startCreatedDispatch } from './lifecycle.ts'
import { addMessages } from './writing.ts'

/** The purpose of a dispatch comes from the approved template that its texts match. */

const db = useDatabase()
const { anEngine } = useEngines(db)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

const PRICES = { TRANSACT: '2', PROMO: '5' }

/** A company with a template for orders. Messages that match it have another price than all others. */
async function aShop(given: Partial<NewTemplate> = {}): Promise<World & { templateId: number }> {
  const world = await aWorld(db.sql)
  for (const [trafficType, price] of Object.entries(PRICES)) {
    const [row] = await db.sql<{ tariffId: number }[]>`
      insert into tariffs (partner_id, sender_type, brand, traffic_type, pricing_model, currency)
      values (${world.partner.partnerId}, 'COMMON', null, ${trafficType}, 'FIXED', 'RUB')
      returning tariff_id`
    await db.sql`
      insert into tariff_steps (tariff_id, from_count, price)
      values (${row!.tariffId}, 0, ${db.sql.typed.money(money(price))})`
  }
  return { ...world, templateId: await aTemplate(world.companyId, given) }
}

async function aTemplate(companyId: number, given: Partial<NewTemplate> = {}): Promise<number> {
  const template: NewTemplate = {
    channelType: 'SMS',
    trafficType: 'TRANSACT',
    pattern: 'Order %d is ready',
    senderId: null,
    content: null,
    validFrom: new Date('2026-01-01T00:00:00Z'),
    validTo: null,
    ...given,
  }
  const { templateId } = await db.sql.begin(sql => createTemplate(sql, companyId, template, new Date()))
  await approveTemplate(db.sql, templateId, new Date())
  return templateId
}

const aSale: ClientDispatch = {
  name: 'Orders',
  channelType: 'SMS',
  senderName: 'ROMASHKA',
  text: 'Order {x} is ready',
  centerId: null,
  partsPerSecond: null,
  options: {},
  callbackUrl: null,
  callbackEvents: null,
  cascade: null,
}

const MTS = '79160000077'
const to = (x: string): Recipient => ({ destination: MTS, substitutions: { x } })
const FITS = to('17')
const ADVERTISING = to('17! 90% off everything')

async function ofClient({ companyId }: World, recipients: Recipient[], given: Partial<ClientDispatch> = {}) {
  const request = { dispatch: { ...aSale, ...given }, once: undefined, now: new Date() }
  const home = { companyId, ...(await createClientDispatch(db.sql, companyId, request)) }
  const answers = await addToClient(home, recipients)
  return { ...home, answers }
}

const addToClient = (home: { companyId: number; dispatchId: number }, recipients: Recipient[]) =>
  addRecipients(db.sql, numbering, home, { recipients, linkBase: 'http://localhost/s', once: undefined })

const requestOf = ({ partner, companyId, senders }: World, recipients: Recipient[], text = aSale.text) => ({
  partner,
  companyId,
  recipients,
  once: undefined,
  dispatch: {
    name: 'Orders',
    channelType: 'SMS' as const,
    text,
    senderIds: senders.map(({ senderId }) => senderId),
    schedule: undefined,
    callbackUrl: undefined,
    callbackEvents: undefined,
  },
})

const ofPartner = (world: World, recipients: Recipient[], text?: string) =>
  createDispatch(db.sql, numbering, requestOf(world, recipients, text))

/** The results of the recipients: traffic type, template, price and lane. */
const judged = (dispatchId: number) => db.sql`
  select m.error_code as code, coalesce(m.traffic_type, d.traffic_type) as type, m.template_id as template, m.price,
    l.priority
  from messages m join dispatches d using (company_id, dispatch_id)
  left join lanes l on l.company_id = m.company_id and l.lane_id = m.lane_id
  where m.dispatch_id = ${dispatchId} order by m.dispatch_position`

const transact = (template: number) => ({ code: null, type: 'TRANSACT', template, price: money('2'), priority: 1 })
const promo = { code: null, type: 'PROMO', template: null, price: money('5'), priority: 3 }

describe('of the messaging API', () => {
  test('has the traffic type, price and lane of the template that its text matches', async () => {
    const shop = await aShop()
    const { dispatchId } = await ofClient(shop, [FITS, to('18')])
    expect(await judged(dispatchId)).toEqual([transact(shop.templateId), transact(shop.templateId)])
  })

  test('accepts a recipient with another text, with the default traffic type, price and lane', async () => {
    const shop = await aShop()
    const { dispatchId, answers } = await ofClient(shop, [FITS, ADVERTISING])
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([null, null])
    expect(await judged(dispatchId)).toEqual([transact(shop.templateId), promo])
  })

  test('is advertising when its text matches no template', async () => {
    const { dispatchId } = await ofClient(await aShop(), [FITS, ADVERTISING], { text: 'Your order {x} is ready' })
    expect(await judged(dispatchId)).toEqual([promo, promo])
  })

  test('keeps its template although that was denied meanwhile', async () => {
    const shop = await aShop()
    const { answers: _, ...home } = await ofClient(shop, [FITS])
    await denyTemplate(db.sql, shop.templateId, undefined, new Date())
    await addToClient(home, [FITS, ADVERTISING])
    expect((await judged(home.dispatchId)).slice(1)).toEqual([transact(shop.templateId), promo])
  })

  test('with links matches by its text with long links, and by its text with short links', async () => {
    const shop = await aShop({ pattern: 'Order %d is at https://shop.example/orders' })
    const { companyId, templateId } = shop
    const see = await aTemplate(companyId, { pattern: 'See %w now' })
    const literal = { text: 'Order {x} is at https://shop.example/orders', options: { shortUrl: true } }
    const written = await ofClient(shop, [FITS, ADVERTISING], literal)
    expect(await judged(written.dispatchId)).toEqual([transact(templateId), promo])
    const link = to('https://shop.example/orders/17')
    const { dispatchId } = await ofClient(shop, [link], { text: 'See {x} now', options: { shortUrl: true } })
    expect(await judged(dispatchId)).toEqual([transact(see)])
  })
})

describe('of the partner API', () => {
  test('accepts every recipient, and a text that does not match has the default traffic type, price and lane', async () => {
    const shop = await aShop()
    const other = { destination: MTS, customText: 'Everything must go' }
    const { dispatchId, success, estimate } = await ofPartner(shop, [FITS, other, ADVERTISING])
    expect({ success, estimate }).toEqual({ success: 3, estimate: '12.0000' })
    expect(await judged(dispatchId)).toEqual([transact(shop.templateId), promo, promo])
    await addMessages(db.sql, numbering, {
      partner: shop.partner,
      dispatchId,
      recipients: [other, FITS],
      once: undefined,
    })
    expect((await judged(dispatchId)).slice(3)).toEqual([promo, transact(shop.templateId)])
    const lanes = await db.sql`
      select l.lane_id from lanes l where l.dispatch_id = ${dispatchId} and l.tail <> (
        select count(*) from messages m where m.company_id = l.company_id and m.lane_id = l.lane_id)`
    expect(lanes).toEqual([])
  })

  test('gets its purpose from its own text, not from the custom text of its first recipient', async () => {
    const shop = await aShop({ pattern: 'Order %d for %w' })
    const person = { destination: MTS, substitutions: { x: '17', y: 'Anna' } }
    const sale = await ofPartner(shop, [{ ...person, customText: 'Order 17 for Anna' }, person], 'Sale! {x}')
    expect(await judged(sale.dispatchId)).toEqual([promo, promo])
    const orders = await ofPartner(shop, [{ ...person, customText: 'Sale!' }, person], 'Order {x} for {y}')
    expect(await judged(orders.dispatchId)).toEqual([promo, transact(shop.templateId)])
  })

  test('a dry run has the same price', async () => {
    const shop = await aShop()
    const { estimate } = await dryRunDispatch(db.sql, numbering, requestOf(shop, [FITS, ADVERTISING]))
    expect(estimate).toBe('7.0000')
  })

  test('without a matching template is advertising', async () => {
    const { dispatchId } = await ofPartner(await aShop(), [FITS], 'Sale! Order {x}')
    expect(await judged(dispatchId)).toEqual([promo])
  })
})

test('a dispatch that is created directly after an approval or a denial respects it, in both APIs', async () => {
  const shop = await aShop({ pattern: 'Nothing like it' })
  const typesOf = async () => {
    const mine = await ofClient(shop, [FITS])
    const partners = await ofPartner(shop, [FITS])
    const { estimate } = await dryRunDispatch(db.sql, numbering, requestOf(shop, [FITS]))
    return [...(await judged(mine.dispatchId)), ...(await judged(partners.dispatchId)), estimate]
  }
  for (let round = 0; round < 2; round++) {
    expect(await typesOf()).toEqual([promo, promo, '5.0000'])
    const templateId = await aTemplate(shop.companyId)
    expect(await typesOf()).toEqual([transact(templateId), transact(templateId), '2.0000'])
    await denyTemplate(db.sql, templateId, undefined, new Date())
  }
})

describe('over WhatsApp', () => {
  const senderName = 'Orders'
  const content = { name: 'order_ready', language: 'ru' }
  const whatsapp = { channelType: 'WHATSAPP' as const, senderName }

  /** The contents that the messenger gets. It accepts a free text only for a subscriber that wrote to the company. */
  async function handedOver(world: World, recipients: Recipient[], given: Partial<ClientDispatch> = {}) {
    await anApprovedSender(db.sql, world.companyId, whatsapp)
    const messenger = aChannel(() => ({ kind: 'accepted' }))
    await aGateway(db.sql, { ...whatsapp, name: 'whatsapp', connector: 'whatsapp' })
    const { answers: _, ...home } = await ofClient(world, recipients, { ...whatsapp, ...given })
    await startCreatedDispatch(db.sql, home, { billingZone, now: new Date() })
    await anEngine({ connect: messenger.connect })
    await eventually(async () => {
      const waiting = await db.sql`
        select from messages where dispatch_id = ${home.dispatchId} and status = 'CREATED'`
      expect(waiting).toHaveLength(0)
    })
    return messenger.handed.map(({ text, content: said }) => ({ text, content: said }))
  }

  const ready = (x: string) => ({ templateId: 'order_ready:ru', parameters: [x] })

  test('a text that matches a template of the messenger is sent as that template, filled for each recipient', async () => {
    const shop = await aShop({ channelType: 'WHATSAPP', content })
    expect(await handedOver(shop, [FITS, to('18')])).toEqual(
      ['17', '18'].map(x => ({
        text: `Order ${x} is ready`,
        content: { contentType: 'text', text: `Order ${x} is ready`, template: ready(x) },
      })),
    )
  })

  test('the other fields of the first step of a cascade are kept', async () => {
    const shop = await aShop({ channelType: 'WHATSAPP', content })
    const footer = { text: 'Shop' }
    const first = { contentType: 'text' as const, text: aSale.text, footer }
    const cascade = [
      { ...whatsapp, text: aSale.text, content: first, condition: 'not_delivered' as const, ttl: 3600 },
      { channelType: 'SMS' as const, senderName: 'sms_promo', text: 'Hi', content: null, condition: null, ttl: null },
    ]
    const text = 'Order 17 is ready'
    expect(await handedOver(shop, [FITS], { cascade })).toEqual([
      { text, content: { contentType: 'text', text, footer, template: ready('17') } },
    ])
  })

  test('a text without a template of the messenger is a free text, and only subscribers that wrote before get it', async () => {
    const shop = await aShop({ channelType: 'WHATSAPP' })
    expect(await handedOver(shop, [FITS])).toEqual([])
  })
})
