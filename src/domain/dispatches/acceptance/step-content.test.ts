import { beforeAll, describe, expect, test } from 'vitest'
import type { ClientChannel } from '../../../base/channel-types.ts'
import type { Content } from '../../../base/content/content.ts'
import { useDatabase } from '../../../testing/database.ts'
import { aChannel, aGateway, useEngines } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { aWorld, billingZone } from '../../../testing/world.ts'
import { loadNumbering, type Numbering } from '../../numbering/numbering.ts'
import { approveTemplate } from '../../templates/moderation.ts'
import { createTemplate } from '../../templates/templates.ts'
import { addRecipients, createClientDispatch } from '../client-dispatches.ts'
import type { CascadeStep, DispatchOptions, Recipient } from '../dispatch.ts'
import { startCreatedDispatch } from '../lifecycle.ts'
import { compileContent } from './step-content.ts'

const viber: Content = {
  contentType: 'text',
  text: 'Order {id}',
  image: 'https://shop.example/{id}.png',
  button: { text: 'Order {id}', url: 'https://shop.example/orders/{id}' },
}

describe('placeholders outside the text', () => {
  const whatsapp: Content = {
    contentType: 'text',
    text: 'Order {id}',
    header: { text: '{shop}' },
    footer: { text: 'Yours, {shop}' },
    buttons: [
      { text: 'To {id}', url: 'https://{shop}.example/{id}' },
      { text: 'Call', phone: '{phone}' },
    ],
  }
  const push: Content = {
    contentType: 'push',
    text: 'Order {id}',
    title: '{shop}',
    url: 'https://shop.example/{id}',
    image: 'https://shop.example/{id}.png',
    data: { title: '{id}' },
  }
  const substitutions = { id: 17, shop: 'Romashka', phone: '79160000001' }

  test.each<[string, Content, object]>([
    ['a code', { contentType: 'authentication', code: '{id}' }, { code: '17' }],
    [
      'what fills a template, not its name',
      { contentType: 'template', templateId: 'order_{id}', parameters: ['{shop}', 'a {id} b', '', 'x'] },
      { templateId: 'order_{id}', parameters: ['Romashka', 'a 17 b', '', 'x'] },
    ],
    ['a button, not the picture', viber, { button: { text: 'Order 17', url: 'https://shop.example/orders/17' } }],
    [
      'header, footer and buttons',
      whatsapp,
      {
        header: { text: 'Romashka' },
        footer: { text: 'Yours, Romashka' },
        buttons: [
          { text: 'To 17', url: 'https://Romashka.example/17' },
          { text: 'Call', phone: '79160000001' },
        ],
      },
    ],
    [
      'a title and an address, not the picture and the data of the app',
      push,
      { title: 'Romashka', url: 'https://shop.example/17' },
    ],
  ])('are filled in %s', (_, content, filled) => {
    const before = structuredClone(content)
    expect(compileContent(content)!(substitutions)).toEqual({ ...content, ...filled })
    expect(content).toEqual(before)
  })

  test.each<[string, Content | null]>([
    ['nothing', null],
    ['a text', { contentType: 'text', text: '{id}', button: null, buttons: null, header: null }],
    ['a picture', { contentType: 'text', text: 'Hi', image: 'https://shop.example/{id}.png' }],
    ['data of the app', { contentType: 'push', text: 'Hi', data: { title: '{id}', button: { text: '{id}' } } }],
    ['braces without a name', { contentType: 'authentication', code: '{1}' }],
  ])('there are none in %s: one content serves all', (_, content) => {
    expect(compileContent(content)).toBeUndefined()
  })

  test('without a substitution have the error code 7404', () => {
    expect(compileContent(viber)!({ name: 'Anna' })).toBe(7404)
    expect(compileContent(viber)!(undefined)).toBe(7404)
    expect(compileContent(viber)!({ id: null })).toBe(7404)
  })

  const code: Content = { contentType: 'authentication', code: '{x}' }
  const link: Content = { contentType: 'push', text: 'Hi', url: '{x}' }
  const parameter: Content = { contentType: 'template', templateId: 'a', parameters: ['{x}'] }
  const label: Content = { contentType: 'text', text: 'Hi', button: { text: '{x}', url: 'https://shop.example/' } }

  test.each<[Content, string, string]>([
    [code, '1'.repeat(15), '1'.repeat(16)],
    [code, '1', ''],
    [link, 'http://shop.example/a?b=1', 'ftp://shop.example/a'],
    [link, 'https://shop.example/%20', 'https://shop.example/ '],
    [link, `https://shop.example/${'a'.repeat(2027)}`, `https://shop.example/${'a'.repeat(2028)}`],
    [parameter, '', 'x'.repeat(1025)],
    [label, '🙂'.repeat(30), '🙂'.repeat(31)],
    [label, 'x'.repeat(30), 'x'.repeat(100_000)],
  ])('filled with what their place does not take are 7405: %j', (content, good, bad) => {
    expect(compileContent(content)!({ x: good })).toMatchObject({ contentType: content.contentType })
    expect(compileContent(content)!({ x: bad })).toBe(7405)
  })

  test('inside a substitution are plain text', () => {
    expect(compileContent(code)!({ x: '{id}', id: '17' })).toEqual({ ...code, code: '{id}' })
  })
})

describe('a cascade dispatch', () => {
  const db = useDatabase()
  const { anEngine } = useEngines(db)
  let numbering: Numbering

  beforeAll(async () => {
    numbering = await loadNumbering(db.sql)
  })

  const senderName = 'Orders'
  const stepOf = (channelType: ClientChannel, text: string, content: Content | null): CascadeStep => ({
    channelType,
    senderName: channelType === 'SMS' ? 'sms_promo' : senderName,
    text,
    content,
    condition: 'not_delivered',
    ttl: 3600,
  })
  const sms = stepOf('SMS', 'Hi', null)
  const byViber = stepOf('VIBER', viber.text, viber)

  async function aCompany() {
    const world = await aWorld(db.sql)
    for (const channelType of ['VIBER', 'WHATSAPP'] as const)
      await anApprovedSender(db.sql, world.companyId, { channelType, senderName })
    return world
  }

  async function aFilled(companyId: number, cascade: CascadeStep[], ids: string[], options: DispatchOptions = {}) {
    const { channelType, text } = cascade[0]!
    const of = { channelType, text, senderName: cascade[0]!.senderName, cascade, options }
    const rest = { name: 'Orders', centerId: null, partsPerSecond: null, callbackUrl: null, callbackEvents: null }
    const request = { dispatch: { ...of, ...rest }, once: undefined, now: new Date() }
    const home = { companyId, ...(await createClientDispatch(db.sql, companyId, request)) }
    const recipients = ids.map((id): Recipient => ({ destination: numberOf.MTS, substitutions: id ? { id } : {} }))
    const wanted = { recipients, linkBase: 'http://localhost/s', once: undefined }
    const answers = await addRecipients(db.sql, numbering, home, wanted)
    return { ...home, codes: answers.map(({ errorCode }) => errorCode) }
  }

  /** The messages that the operators get. They refuse all of them, so every step is sent. */
  async function handedOver(home: { companyId: number; dispatchId: number }, count: number) {
    const operator = aChannel(() => ({ kind: 'refused', errorCode: 456, reason: 'no' }))
    for (const channelType of ['VIBER', 'WHATSAPP', 'SMS'] as const)
      await aGateway(db.sql, { name: channelType, channelType })
    await startCreatedDispatch(db.sql, home, { billingZone, now: new Date() })
    await anEngine({ connect: operator.connect })
    await eventually(() => expect(operator.handed).toHaveLength(count))
    return operator.handed.map(({ channelType, text, content }) => ({ channelType, text, content }))
  }

  const asGot = (id: string) => ({
    channelType: 'VIBER',
    text: `Order ${id}`,
    content: {
      ...viber,
      text: `Order ${id}`,
      button: { text: `Order ${id}`, url: `https://shop.example/orders/${id}` },
    },
  })

  test('fills the substitutions of each recipient in its first step and in later steps', async () => {
    const { companyId } = await aCompany()
    const code: Content = { contentType: 'authentication', code: '{id}' }
    const home = await aFilled(companyId, [byViber, stepOf('WHATSAPP', '{id}', code), sms], ['17', '18'])
    expect(home.codes).toEqual([null, null])
    const handed = await handedOver(home, 6)
    const of = (channelType: ClientChannel) => handed.filter(each => each.channelType === channelType)
    expect(of('VIBER')).toEqual(['17', '18'].map(asGot))
    const codes = of('WHATSAPP').map(({ text, content }) => ({ text, content }))
    expect(codes.toSorted((a, b) => a.text.localeCompare(b.text))).toEqual(
      ['17', '18'].map(id => ({ text: id, content: { contentType: 'authentication', code: id } })),
    )
  })

  test('has the same short link in its text and in the parameters of a template', async () => {
    const { companyId } = await aCompany()
    const content: Content = { contentType: 'template', templateId: 'order', parameters: ['Hi', 'See {id}'] }
    const first = stepOf('WHATSAPP', 'Hi See {id}', content)
    const options = { shortUrl: true }
    const home = await aFilled(companyId, [first, sms], ['https://shop.example/orders/17'], options)
    const { text, content: said } = (await handedOver(home, 2))[0]!
    expect(text).toMatch(/^Hi See http:\/\/localhost\/s\/\w{10}$/)
    expect(said).toEqual({ ...content, parameters: ['Hi', text.slice(3)] })
    const links = await db.sql`select code, url from short_links where company_id = ${companyId}`
    expect(links).toEqual([{ code: text.slice(-10), url: 'https://shop.example/orders/17' }])
  })

  test('has its own short links in the parameters of a template, also if the parameters are equal for all', async () => {
    const { companyId } = await aCompany()
    const url = 'https://shop.example/sale'
    const parameters = ['Hi', `See ${url}`]
    const content: Content = { contentType: 'template', templateId: 'sale', parameters }
    const first = stepOf('WHATSAPP', parameters.join(' '), content)
    const home = await aFilled(companyId, [first, sms], ['17', '18'], { shortUrl: true })
    const handed = (await handedOver(home, 4)).filter(({ channelType }) => channelType === 'WHATSAPP')
    for (const { text, content: said } of handed) {
      expect(text).toMatch(/^Hi See http:\/\/localhost\/s\/\w{10}$/)
      expect(said).toEqual({ ...content, parameters: ['Hi', text.slice(3)] })
    }
    const links = await db.sql<{ code: string; url: string }[]>`
      select code, url from short_links where company_id = ${companyId}`
    expect(links.toSorted(byCode)).toEqual(handed.map(({ text }) => ({ code: text.slice(-10), url })).toSorted(byCode))
    const plain = await aFilled(companyId, [first, sms], ['17'])
    const kept = await db.sql`select content from messages where dispatch_id = ${plain.dispatchId}`
    expect(kept).toEqual([{ content: null }])
  })

  const byCode = (a: { code: string }, b: { code: string }) => (a.code < b.code ? -1 : 1)

  test('is sent as the template of the messenger with its other fields filled', async () => {
    const { companyId } = await aCompany()
    const template = {
      channelType: 'WHATSAPP' as const,
      trafficType: 'TRANSACT' as const,
      pattern: 'Order %d is ready',
      senderId: null,
      content: { name: 'order_ready', language: 'ru' },
      validFrom: new Date('2026-01-01T00:00:00Z'),
      validTo: null,
    }
    const { templateId } = await db.sql.begin(sql => createTemplate(sql, companyId, template, new Date()))
    await approveTemplate(db.sql, templateId, new Date())
    const content: Content = { contentType: 'text', text: 'Order {id} is ready', footer: { text: 'No. {id}' } }
    const home = await aFilled(companyId, [stepOf('WHATSAPP', content.text, content), sms], ['17'])
    expect((await handedOver(home, 2))[0]!.content).toEqual({
      contentType: 'text',
      text: 'Order 17 is ready',
      footer: { text: 'No. 17' },
      template: { templateId: 'order_ready:ru', parameters: ['17'] },
    })
  })

  test('rejects a recipient without a substitution, or with a value that does not fit, in any of its steps', async () => {
    const { companyId } = await aCompany()
    const ids = ['17', '', 'a b'] // an address must not have a space
    const step = stepOf('VIBER', 'Hi', { ...viber, text: 'Hi' } as Content)
    expect((await aFilled(companyId, [step, sms], ids)).codes).toEqual([null, 7404, 7405])
    expect((await aFilled(companyId, [sms, step], ids)).codes).toEqual([null, 7404, 7405])
  })

  test('stores a content with a message only if it differs from the content of the dispatch', async () => {
    const { companyId } = await aCompany()
    const plain: Content = { ...viber, button: { text: 'Shop', url: 'https://shop.example/' } } as Content
    const kept = async (content: Content, ids: string[]) => {
      const { dispatchId } = await aFilled(companyId, [stepOf('VIBER', 'Order {id}', content), sms], ids)
      return db.sql`select content from messages where dispatch_id = ${dispatchId} order by dispatch_position`
    }
    expect(await kept(plain, ['17', ''])).toEqual([{ content: null }, { content: null }])
    expect(await kept(viber, ['17', ''])).toEqual([{ content: asGot('17').content }, { content: null }])
  })
})
