import { beforeAll, describe, expect, test } from 'vitest'
import { approveTemplate, denyTemplate } from '../../../domain/templates/moderation.ts'
import { anApprovedSender, numberOf } from '../../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../../testing/messaging-api.ts'
import { aWorld } from '../../../testing/world.ts'

/** Messages by WHATSAPP that name a template: by the id of POST /templates, or by its name at Meta. */

const api = useMessagingApi()
let companyId: number
let key: string
let entity: string

beforeAll(async () => {
  ;({ companyId } = await aWorld(api.sql, { commonType: 'PROMO' }))
  key = (await aKey(api.sql, companyId)).key
  entity = (await aKey(api.sql, companyId, 'ENTITY')).key
  for (const senderName of ['Orders', 'Sales']) {
    await anApprovedSender(api.sql, companyId, { channelType: 'WHATSAPP', senderName })
  }
})

let lastName = 0

/** Under a name of its own at Meta, unless another is given. */
async function aTemplate(given: object = {}): Promise<{ id: number; name: string }> {
  const name = `order_${++lastName}`
  const body = {
    channelType: 'WHATSAPP',
    templateType: 'SERVICE',
    pattern: 'Order %d for %w{1,3} is ready',
    content: { name, language: 'ru' },
    ...given,
  }
  const made = await api.call({ method: 'POST', path: '/templates', key: entity, body })
  expect(made.status).toBe(201)
  return { id: made.body.id, name }
}

async function anApproved(given: object = {}) {
  const template = await aTemplate(given)
  await approveTemplate(api.sql, template.id, new Date())
  return template
}

const byTemplate = (templateId: number | string, parameters: string[] | null = ['17', 'Anna Petrova']) => ({
  contentType: 'template',
  templateId,
  parameters,
})

const aMessage = (content: object, given: object = {}) => ({
  channelType: 'WHATSAPP',
  senderName: 'Orders',
  destination: numberOf.MTS,
  content,
  ...given,
})

const post = (body: object, path = '/message') => api.call({ method: 'POST', path, key, body })

async function refusalOf(content: object, given: object = {}): Promise<string> {
  const { status, body } = await post(aMessage(content, given))
  expect([status, body.error?.code]).toEqual([400, 4000])
  return body.error.msg
}

/** As it is shown, and what the messenger's connector gets beyond the text. */
async function shown(content: object, given: object = {}) {
  const { status, body } = await post(aMessage(content, given))
  expect([status, body.error]).toEqual([200, undefined])
  return shownMessage(body.items[0].messageUuid)
}

async function shownMessage(uuid: string) {
  const { body } = await api.call({ method: 'GET', path: `/message/${uuid}`, key })
  const [row] = await api.sql`select content -> 'template' as template from messages where message_uuid = ${uuid}`
  return {
    content: body.content,
    specialContent: body.specialContent,
    trafficType: body.trafficType,
    templateId: body.templateId,
    goesOutAs: row!.template,
  }
}

describe('a number', () => {
  test("is the id that POST /templates answered: the template's text, type and name apply", async () => {
    const { id, name } = await anApproved()
    expect(await shown(byTemplate(id))).toEqual({
      content: 'Order 17 for Anna Petrova is ready',
      specialContent: byTemplate(id),
      trafficType: 'SERVICE',
      templateId: id,
      goesOutAs: { templateId: `${name}:ru`, parameters: ['17', 'Anna Petrova'] },
    })
  })

  test('of a template without a name at Meta sends its text', async () => {
    const { id } = await anApproved({ pattern: 'We have moved', content: null })
    expect(await shown(byTemplate(id, null))).toMatchObject({
      content: 'We have moved',
      trafficType: 'SERVICE',
      templateId: id,
      goesOutAs: null,
    })
  })

  test('has its links shortened in the values, and the text says the same', async () => {
    const { id } = await anApproved({ pattern: 'See %w' })
    const message = await shown(byTemplate(id, ['https://shop.example/orders/17']), { shortUrl: true })
    expect(message.content).toMatch(/^See .*\/s\/\w{10}$/)
    expect(message).toMatchObject({
      templateId: id,
      goesOutAs: { parameters: [message.content.slice('See '.length)] },
    })
  })

  test('that no approved template of the company has is refused, and says what to do', async () => {
    const other = await aWorld(api.sql)
    const [foreign] = await api.sql`
      insert into template_ids (company_id) values (${other.companyId}) returning template_id as id`
    for (const id of [987_654_321, foreign!.id]) {
      expect(await refusalOf(byTemplate(id))).toBe(
        `content.templateId: the company has no template ${id}: use the id of a registered template, ` +
          "or the template's own name at Meta as a string",
      )
    }
    const draft = await aTemplate()
    expect(await refusalOf(byTemplate(draft.id))).toBe(
      `content.templateId: template ${draft.id} is DRAFT: it can be used once it is APPROVED`,
    )
    await denyTemplate(api.sql, draft.id, undefined, new Date())
    expect(await refusalOf(byTemplate(draft.id))).toBe(
      `content.templateId: template ${draft.id} is DENIED: use an APPROVED template`,
    )
    const sms = await anApproved({ channelType: 'SMS', content: null })
    expect(await refusalOf(byTemplate(sms.id))).toBe(
      `content.templateId: template ${sms.id} is for SMS: use one for WHATSAPP`,
    )
  })

  test('of a template bound to another sender name is refused', async () => {
    const [sender] = await api.sql`
      select sender_id as id from senders where company_id = ${companyId} and sender_name = 'Sales'`
    const { id } = await anApproved({ senderNameId: sender!.id })
    expect(await refusalOf(byTemplate(id))).toBe(`content.templateId: template ${id} is for the sender name Sales`)
    expect(await shown(byTemplate(id), { senderName: 'Sales' })).toMatchObject({ templateId: id })
  })

  test.each([
    [['17'], 'content.parameters: template ID has 2 places (%d, %w{1,3}), not 1'],
    [null, 'content.parameters: template ID has 2 places (%d, %w{1,3}), not 0'],
    [['17', 'Anna', 'Petrova'], 'content.parameters: template ID has 2 places (%d, %w{1,3}), not 3'],
    [['soon', 'Anna'], 'content.parameters[0]: must be a number, as template ID says (%d)'],
    [['17', 'Anna and Pyotr Petrov'], 'content.parameters[1]: must be 1 to 3 words, as template ID says (%w{1,3})'],
    [['17', ' '], 'content.parameters[1]: must be 1 to 3 words, as template ID says (%w{1,3})'],
  ])('with the parameters %j is refused', async (parameters, why) => {
    const { id } = await anApproved()
    expect(await refusalOf(byTemplate(id, parameters))).toBe(why.replace('ID', String(id)))
  })

  test('with values that make the text longer than the channel takes is refused', async () => {
    const { id } = await anApproved({ pattern: '%w %w %w %w %w' })
    const parameters = Array(5).fill('x'.repeat(1000))
    expect(await refusalOf(byTemplate(id, parameters))).toBe(
      'content.parameters: the filled text must have at most 4096 characters',
    )
  })

  test('must be a whole number from 1 on', async () => {
    for (const id of [0, -1, 1.5, 2 ** 53])
      expect(await refusalOf(byTemplate(id))).toMatch(/^content.templateId: must be/)
  })
})

describe('a string', () => {
  test('that we know as the name at Meta gets the registered type, id and text', async () => {
    const { id, name } = await anApproved()
    for (const said of [name, `${name}:ru`]) {
      expect(await shown(byTemplate(said))).toEqual({
        content: 'Order 17 for Anna Petrova is ready',
        specialContent: byTemplate(said),
        trafficType: 'SERVICE',
        templateId: id,
        goesOutAs: { templateId: `${name}:ru`, parameters: ['17', 'Anna Petrova'] },
      })
    }
  })

  test.each(['unheard_of', 'LANGUAGE', '17'])('that we do not know (%s) goes out as it is', async said => {
    const { name } = await anApproved()
    const templateId = said === 'LANGUAGE' ? `${name}:en` : said
    expect(await shown(byTemplate(templateId))).toEqual({
      content: '17 Anna Petrova',
      specialContent: byTemplate(templateId),
      trafficType: 'PROMO',
      templateId: null,
      goesOutAs: null,
    })
  })

  test('with other values than the approved text allows shows its text, and is no approved one', async () => {
    const { name } = await anApproved()
    expect(await shown(byTemplate(name, ['soon', 'Anna']))).toMatchObject({
      content: 'Order soon for Anna is ready',
      trafficType: 'PROMO',
      templateId: null,
    })
  })

  test('with a number of parameters that Meta would refuse is refused', async () => {
    const { id, name } = await anApproved()
    expect(await refusalOf(byTemplate(name, ['17']))).toMatch(`template ${id} has 2 places`)
  })

  test('must name the language where several are registered', async () => {
    const { name } = await anApproved()
    const english = await anApproved({ pattern: 'Order %d, %w{1,3}', content: { name, language: 'en' } })
    expect(await refusalOf(byTemplate(name))).toBe(
      `content.templateId: "${name}" is registered in several languages: write one of "${name}:ru", "${name}:en"`,
    )
    expect(await shown(byTemplate(`${name}:en`))).toMatchObject({
      content: 'Order 17, Anna Petrova',
      templateId: english.id,
    })
  })
})

describe('of a cascade', () => {
  const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Order 17' }
  const step = (content: object) => ({ channelType: 'WHATSAPP', senderName: 'Orders', content })
  const cascade = (...steps: object[]) => post({ destination: numberOf.MTS, cascade: steps }, '/message/cascade')

  test('the first step goes by its template, and a wrong one in any step is refused by its place', async () => {
    const { id } = await anApproved()
    const { body } = await cascade(step(byTemplate(id)), sms)
    expect(await shownMessage(body.items[0].messageUuid)).toMatchObject({
      content: 'Order 17 for Anna Petrova is ready',
      trafficType: 'SERVICE',
      templateId: id,
    })
    expect((await cascade(sms, step(byTemplate(id, [])))).body.error.msg).toMatch(
      /^cascade\[1\]\.content\.parameters: /,
    )
  })
})

describe('of a dispatch', () => {
  const sms = { channelType: 'SMS', senderName: 'ROMASHKA', content: 'Order {order}' }
  const step = (content: object) => ({ channelType: 'WHATSAPP', senderName: 'Orders', content })
  const create = (...cascade: object[]) => post({ name: 'Orders', cascade }, '/dispatch')
  const people = [
    { destination: numberOf.MTS, substitutions: { order: 17, name: 'Anna' } },
    { destination: numberOf.MTS, substitutions: { order: 'soon', name: 'Anna' } },
  ]

  test('each recipient gets the template filled with its own values', async () => {
    const { id, name } = await anApproved()
    for (const said of [id, name]) {
      const { dispatchId } = (await create(step(byTemplate(said, ['{order}', '{name}'])), sms)).body
      const shownDispatch = await api.call({ method: 'GET', path: `/dispatch/${dispatchId}`, key })
      expect(shownDispatch.body.message).toBe('Order {order} for {name} is ready')
      const { body } = await post(people, `/dispatch/${dispatchId}/messages`)
      expect(await shownMessage(body[0].messageUuid)).toEqual({
        content: 'Order 17 for Anna is ready',
        specialContent: byTemplate(said, ['17', 'Anna']),
        trafficType: 'SERVICE',
        templateId: id,
        goesOutAs: { templateId: `${name}:ru`, parameters: ['17', 'Anna'] },
      })
      if (said === id) expect(body[1]).toEqual({ destination: numberOf.MTS, errorCode: 7405 })
      else expect(await shownMessage(body[1].messageUuid)).toMatchObject({ trafficType: 'PROMO', templateId: null })
    }
  })

  test('a later step by id refuses recipients whose values do not fit', async () => {
    const { id } = await anApproved()
    const { dispatchId } = (await create(sms, step(byTemplate(id, ['{order}', '{name}'])))).body
    const { body } = await post(people, `/dispatch/${dispatchId}/messages`)
    expect(body).toMatchObject([{ messageUuid: expect.any(String) }, { errorCode: 7405 }])
  })

  test('a template that cannot be used is refused by its step', async () => {
    const draft = await aTemplate()
    const { id } = await anApproved()
    const refusals = [
      await create(step(byTemplate(draft.id)), sms),
      await create(sms, step(byTemplate(987_654_321))),
      await create(step(byTemplate(id, ['{order}'])), sms),
      await create(step(byTemplate(id, ['{order}', 'one two three four'])), sms),
    ]
    expect(refusals.map(({ body }) => body.error.msg)).toEqual([
      expect.stringMatching(/^cascade\[0\]\.content\.templateId: template \d+ is DRAFT/),
      expect.stringMatching(/^cascade\[1\]\.content\.templateId: the company has no template 987654321/),
      expect.stringMatching(/^cascade\[0\]\.content\.parameters: template \d+ has 2 places/),
      expect.stringMatching(/^cascade\[0\]\.content\.parameters\[1\]: must be 1 to 3 words/),
    ])
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
