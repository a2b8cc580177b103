import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { ClientChannel } from '../../src/base/channel-types.ts'
import type { Content } from '../../src/base/content/content.ts'
import type { Outgoing } from '../../src/channels/channel.ts'
import type { MessageRequest } from '../../src/domain/messages/single.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { Intake } from '../../src/domain/singles/intake.ts'
import { approveTemplate } from '../../src/domain/templates/moderation.ts'
import type { NewTemplate } from '../../src/domain/templates/template.ts'
import { createTemplate } from '../../src/domain/templates/templates.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aChannel, aGateway, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { anApprovedSender, numberOf } from '../../src/testing/factories.ts'
import { aWorld, billingZone, type World } from '../../src/testing/world.ts'

/** The content that the operator gets of a message with `shortUrl`: every place of the text has the short links. */

const db = useDatabase()
const { anEngine } = useEngines(db)
const linkBase = 'http://localhost/s'
const url = 'https://shop.example/cart/17'
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

async function accept(channelType: ClientChannel, said: Pick<MessageRequest, 'text' | 'content'>): Promise<string> {
  const clock = () => new Date()
  const intake = new Intake({ sql: db.sql, clock, numbering: () => numbering, billingZone, linkBase })
  const request: MessageRequest = {
    ...said,
    channelType,
    senderName: 'ROMASHKA',
    destination: numberOf.MTS,
    trafficType: null,
    externalId: null,
    centerId: null,
    method: 'API',
    options: { shortUrl: true },
    callbackUrl: null,
    callbackEvents: null,
  }
  const [outcome] = await intake.accept(world.companyId, [request])
  if (outcome!.kind === 'refused') throw new Error(outcome!.reason)
  return outcome!.uuid
}

async function handedOver(channelType: ClientChannel, said: Pick<MessageRequest, 'text' | 'content'>) {
  if (channelType !== 'TELEGRAM' && channelType !== 'PUSH')
    await anApprovedSender(db.sql, world.companyId, { channelType, brand: 'MTS' })
  // The simulated operator accepts free texts of WHATSAPP at any time.
  await aGateway(db.sql, { channelType })
  const uuid = await accept(channelType, said)
  const channel = aChannel(() => ({ kind: 'accepted', providerIds: ['1'] }))
  await anEngine({ connect: channel.connect })
  const [handed] = await eventually(() => {
    expect(channel.handed).toHaveLength(1)
    return channel.handed
  })
  const links = await db.sql`select code, url from short_links where message_uuid = ${uuid}`
  expect(links).toEqual([{ code: expect.any(String), url }])
  return { handed: handed!, short: `${linkBase}/${links[0]!.code}` }
}

const contentOf = ({ content }: Outgoing) => content as Content & { template?: object }

test.each<[ClientChannel, Content]>([
  ['VIBER', { contentType: 'text', text: `Your cart: ${url}`, button: { text: 'Go', url } }],
  ['TELEGRAM', { contentType: 'text', text: `Your cart: ${url}` }],
  ['PUSH', { contentType: 'push', text: `Your cart: ${url}`, url }],
  ['WHATSAPP', { contentType: 'text', text: `Your cart: ${url}` }],
])('the content of a %s message has short links', async (channelType, content) => {
  const { handed, short } = await handedOver(channelType, { text: `Your cart: ${url}`, content })
  expect(handed.text).toBe(`Your cart: ${short}`)
  expect(contentOf(handed)).toEqual({ ...content, text: `Your cart: ${short}` })
})

test('the variables of a template have short links, with the same code for the same link', async () => {
  const parameters = ['Anna', `${url}.`, 'none', `see ${url}`]
  const content = { contentType: 'template' as const, templateId: 'cart:en', parameters }
  const { handed, short } = await handedOver('WHATSAPP', { text: parameters.join(' '), content })
  expect(contentOf(handed)).toEqual({ ...content, parameters: ['Anna', `${short}.`, 'none', `see ${short}`] })
  expect(handed.text).toBe(`Anna ${short}. none see ${short}`)
})

async function aTemplate(pattern: string) {
  const template = {
    channelType: 'WHATSAPP',
    trafficType: 'SERVICE',
    pattern,
    validFrom: new Date('2026-01-01T00:00:00Z'),
    validTo: null,
    senderId: null,
    content: { name: 'cart', language: 'en' },
  } as NewTemplate
  const made = await db.sql.begin(sql => createTemplate(sql, world.companyId, template, new Date()))
  await approveTemplate(db.sql, made.templateId, new Date())
  return made.templateId
}

test('a free text is matched with a template as it was written, and the variable gets the short link', async () => {
  const templateId = await aTemplate('Dear %w, your cart: %w')
  const text = `Dear Anna, your cart: ${url}`
  const { handed, short } = await handedOver('WHATSAPP', { text, content: { contentType: 'text', text } })
  expect(contentOf(handed)).toEqual({
    contentType: 'text',
    text: `Dear Anna, your cart: ${short}`,
    template: { templateId: 'cart:en', parameters: ['Anna', short] },
  })
  const [row] = await db.sql`select template_id from messages where message_uuid = ${handed.uuid}`
  expect(row!.templateId).toBe(templateId)
})

test('a link that is part of the registered template stays as it is', async () => {
  await aTemplate('Dear %w, your cart: https://shop.example/cart/%d')
  const text = `Dear Anna, your cart: ${url}`
  const { handed } = await handedOver('WHATSAPP', { text, content: { contentType: 'text', text } })
  expect(contentOf(handed).template).toEqual({ templateId: 'cart:en', parameters: ['Anna', '17'] })
})
