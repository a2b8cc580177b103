import { beforeAll, describe, expect, test } from 'vitest'
import { approveSender, rejectSender } from '../../../domain/senders/moderation.ts'
import { type FormPart, formOf } from '../../../testing/api.ts'
import { aMessagingSide, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { JPG, PDF, PNG, printOfTables } from '../../../testing/conformance/world.ts'
import { aSender } from '../../../testing/factories.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

const aName = (given: object = {}) => ({
  senderName: 'VASILEK',
  channelType: 'SMS',
  commonType: 'COMMON',
  brand: 'MTS',
  dateFrom: '2026-01-01T00:00:00+03:00',
  ...given,
})

const post = (body: object, headers: Record<string, string> = {}) =>
  api.call({ method: 'POST', path: '/sender-names', key: side.keys.ENTITY, body, headers })

/** A form with the JSON in the part `body`, and the other given parts. */
function postForm(body: object, ...parts: FormPart[]) {
  const form = formOf({ name: 'body', content: JSON.stringify(body) }, ...parts)
  return post(form.body, form.headers)
}

const get = (path: string, key = side.keys.ENTITY) => api.call({ method: 'GET', path, key })
const put = (id: number, body: object) =>
  api.call({ method: 'PUT', path: `/sender-names/${id}`, key: side.keys.ENTITY, body })

const aFile = (name: string, content: string | Buffer = PDF, filename = `${name}.pdf`) => ({ name, filename, content })
const refusal = (msg: string | RegExp) => ({ error: { code: 4000, msg: expect.stringMatching(msg) } })

async function documentsOf(senderId: number): Promise<{ filename: string; kind: string; content: Buffer }[]> {
  return api.sql`
    select d.filename, d.kind, d.content
    from senders s, unnest(s.document_ids) with ordinality as listed (id, place)
    join company_documents d on d.document_id = listed.id and d.company_id = ${side.companyId}
    where s.company_id = ${side.companyId} and s.sender_id = ${senderId} order by place`
}

describe('a new sender name', () => {
  test('is the sender object of the partner API, in DRAFT', async () => {
    const { status, body } = await post(aName({ brand: 'TELE2', commonType: 'MULTISIGNATURE' }))
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(Number),
      senderName: 'VASILEK',
      channelType: 'SMS',
      counteragentName: 'Ромашка',
      counteragentInn: '7700000001',
      dateFrom: '2025-12-31T21:00:00.000Z',
      dateTo: null,
      commonType: 'MULTISIGNATURE',
      brand: 'TELE2',
      status: 'DRAFT',
      suspended: false,
      fee: null,
      managerComment: null,
      rejectedAt: null,
      createdAt: expect.any(String),
    })
    expect((await get(`/sender-names/${body.id}`)).body).toEqual(body)
  })

  test('keeps its files as documents of the company, in their order, behind those named by id', async () => {
    const files = [aFile('file1', PDF, 'letter.pdf'), aFile('file2', PNG, 'C:\\scans\\sign.png'), aFile('file3', JPG)]
    const { status, body } = await postForm(aName({ commonType: 'PROMO', documentIds: [side.documentId] }), ...files)
    expect(status).toBe(201)
    expect(await documentsOf(body.id)).toEqual([
      { filename: 'charter.pdf', kind: 'pdf', content: PDF },
      { filename: 'letter.pdf', kind: 'pdf', content: PDF },
      { filename: 'sign.png', kind: 'png', content: PNG },
      { filename: 'file3.pdf', kind: 'jpg', content: JPG },
    ])
  })

  test('may have its JSON in a part of any type, with a file name or without, before or after the files', async () => {
    const content = JSON.stringify(aName({ commonType: 'PROMO', description: 'Цветы' }))
    for (const parts of [
      [{ name: 'body', filename: 'blob', type: 'application/json', content }, aFile('file1')],
      [aFile('file1'), { name: 'body', content }],
      [aFile('file'), { name: 'note', content: 'ignored' }, { name: 'body', content }],
    ]) {
      const form = formOf(...parts)
      const { status, body } = await post(form.body, form.headers)
      expect(status).toBe(201)
      expect(await documentsOf(body.id)).toHaveLength(1)
    }
    const typed = Buffer.from(
      formOf({ name: 'body', content }, aFile('file1'))
        .body.toString('latin1')
        .replace('name="body"\r\n', 'name="body"\r\nContent-Type: application/json\r\n'),
      'latin1',
    )
    expect((await post(typed, formOf().headers)).status).toBe(201)
  })

  test('of the type PROMO needs a file or a document, whichever way it is sent', async () => {
    const promo = aName({ commonType: 'PROMO' })
    const before = await printOfTables(api.sql)
    for (const answer of [await post(promo), await postForm(promo), await post({ ...promo, documentIds: [] })]) {
      expect([answer.status, answer.body]).toEqual([400, refusal(/^file1: /)])
    }
    expect(await printOfTables(api.sql)).toEqual(before)
    expect((await post({ ...promo, documentIds: [side.documentId] })).status).toBe(201)
    expect((await postForm(promo, aFile('file1'))).status).toBe(201)
  })

  test.each<[string, RegExp, () => FormPart[]]>([
    ['an empty file', /^file1: is empty$/, () => [aFile('file1', '')]],
    [
      'a text that calls itself a PDF',
      /^file2: must be a PDF, JPG or PNG$/,
      () => [aFile('file1'), aFile('file2', 'x')],
    ],
    ['a file of more than 10 MB', /^file1: must be at most 10 MB$/, () => [aFile('file1', pdfOf(10 * MIB + 1))]],
    ['a file in a part of another name', /^scan: files go into/, () => [aFile('scan')]],
    ['a part without a file name', /^file1: must be a file$/, () => [{ name: 'file1', content: PDF }]],
    ['eleven files', /^file11: /, () => Array.from({ length: 11 }, (_, i) => aFile(`file${i + 1}`))],
    ['a second body', /^body: /, () => [{ name: 'body', content: '{}' }]],
    ['a name that no form has', /^body: /, () => [{ name: '__proto__', content: 'x' }]],
    ['more parts than anyone needs', /^body: /, () => Array.from({ length: 30 }, () => ({ name: 'x', content: 'x' }))],
  ])('with %s is 4000, and nothing of it is kept', async (_, msg, parts) => {
    const before = await printOfTables(api.sql)
    const answer = await postForm(aName(), ...parts())
    expect([answer.status, answer.body]).toEqual([400, refusal(msg)])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test('may have 20 MB of files, and no more than the form can hold', async () => {
    const two = [aFile('file1', pdfOf(10 * MIB)), aFile('file2', pdfOf(10 * MIB))]
    expect((await postForm(aName(), ...two)).status).toBe(201)
    const before = await printOfTables(api.sql)
    const answer = await postForm(aName(), ...two, aFile('file3', pdfOf(2 * MIB)), aFile('file4'))
    expect([answer.status, answer.body.error.code]).toEqual([413, 4130])
    expect(await printOfTables(api.sql)).toEqual(before)
  })

  test.each([
    ['no boundary', { 'content-type': 'multipart/form-data' }, 'x'],
    ['a body that is no form', formOf().headers, 'no form'],
    ['a form that ends early', formOf().headers, '------tidings-test-form\r\nContent-Disposition: form-data; name="bo'],
    ['an empty form', formOf().headers, formOf().body.toString()],
  ])('%s is 4000', async (_, headers, body) => {
    const answer = await post(Buffer.from(body), headers)
    expect([answer.status, answer.body]).toEqual([400, refusal(/^body: /)])
  })

  const MIB = 1024 * 1024
  const pdfOf = (sizeBytes: number) => Buffer.concat([PDF, Buffer.alloc(sizeBytes - PDF.length, 32)])
})

describe('the name itself', () => {
  const viber = (senderName: string, given: object = {}) => post(aName({ channelType: 'VIBER', senderName, ...given }))

  test.each(['A', '7', 'Цветы & Co.', '«Ромашка» №1', 'Flower-shop_24/7', 'Ёлка', 'x'.repeat(28), 'Каф\u0435\u0301'])(
    '%s is a name for VIBER',
    async name => {
      expect((await viber(name)).body.senderName).toBe(name)
    },
  )

  test.each([
    ' A',
    'A ',
    'A  B',
    'x'.repeat(29),
    '!',
    '&',
    'Ромашка 🌼',
    'tab\there',
    'line\n',
    '<b>',
    'a\\b',
    '\u200b',
  ])('%j is none for VIBER', async name => {
    expect((await viber(name)).body).toEqual(refusal(/^senderName: .*VIBER/))
  })

  test('for VIBER is held to its rule when it is changed, too', async () => {
    const { id } = (await viber('Ромашка')).body
    expect((await put(id, { senderName: 'Ромашка 🌼' })).body).toEqual(refusal(/^senderName: .*VIBER/))
    expect((await put(id, { senderName: 'Ромашка плюс' })).body).toMatchObject({ senderName: 'Ромашка плюс' })
  })

  test.each(['SMS', 'VIBER'])('of %s at MEGAFON has no + and no space, but may have !', async channelType => {
    const { status, body } = await post(aName({ channelType, brand: 'MEGAFON', senderName: 'SALE!' }))
    expect(status).toBe(201)
    for (const senderName of ['A+B', 'A B']) {
      const created = await post(aName({ channelType, brand: 'MEGAFON', senderName }))
      expect(created.body).toEqual(refusal(/^senderName: .*MEGAFON/))
      expect((await put(body.id, { senderName })).body).toEqual(refusal(/^senderName: .*MEGAFON/))
    }
    expect((await put(body.id, { senderName: 'SALE!!' })).body.senderName).toBe('SALE!!')
  })
})

describe('a change', () => {
  test('is shown, and may close the name', async () => {
    const { body: name } = await post(aName())
    const change = { senderName: 'LANDYSH', dateFrom: '2026-02-01T00:00:00Z', dateTo: '2099-01-01T00:00:00Z' }
    const { status, body } = await put(name.id, change)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...name,
      senderName: 'LANDYSH',
      dateFrom: '2026-02-01T00:00:00.000Z',
      dateTo: '2099-01-01T00:00:00.000Z',
    })
    expect((await put(name.id, {})).body).toEqual(body)
  })

  test('to the type PROMO needs a document, before or with it', async () => {
    const { id } = (await post(aName())).body
    expect((await put(id, { commonType: 'PROMO' })).body).toEqual(refusal(/^file1: /))
    expect((await put(id, { commonType: 'PROMO', documentIds: [] })).body).toEqual(refusal(/^file1: /))
    expect((await put(id, { commonType: 'PROMO', documentIds: [side.documentId] })).body.commonType).toBe('PROMO')
    expect((await put(id, { documentIds: [] })).body).toEqual(refusal(/^file1: /))
    expect((await put(id, { commonType: 'PROMO' })).status).toBe(200)
    expect((await put(id, { commonType: 'COMMON', documentIds: [] })).status).toBe(200)
  })

  test('of a rejected name sends it back into review; an approved name keeps its name', async () => {
    const { id } = (await post(aName())).body
    await api.sql`update senders set status = 'PRE_REVIEW' where sender_id = ${id}`
    await rejectSender(api.sql, id, 'No such firm', new Date())
    expect((await get(`/sender-names/${id}`)).body).toMatchObject({
      status: 'REJECTED',
      managerComment: 'No such firm',
    })
    expect((await put(id, { senderName: 'LANDYSH' })).body).toMatchObject({ status: 'PRE_REVIEW', rejectedAt: null })
    await approveSender(api.sql, id, () => null, new Date())
    expect((await put(id, { senderName: 'VASILEK' })).body).toEqual(refusal(/^senderName: cannot be changed/))
  })
})

describe('the list', () => {
  test('is paged, oldest first, and leaves what the filters ask for', async () => {
    const mine = await aMessagingSide(api.sql)
    const ids = [mine.draftId, mine.messengerNameId]
    for (const given of [
      { brand: 'TELE2' },
      { countryCode: 'KZ' },
      { channelType: 'VK', senderName: 'Ромашка' },
    ] as const) {
      ids.push((await aSender(api.sql, mine.companyId, given)).senderId)
    }
    await approveSender(api.sql, ids[2]!, () => null, new Date())
    const list = async (query: string) => {
      const { body } = await get(`/sender-names${query}`, mine.keys.ENTITY)
      return [body.total, ...body.items.map((item: { id: number }) => ids.indexOf(item.id))]
    }
    expect(await list('')).toEqual([5, 0, 1, 2, 3, 4])
    expect(await list('?page=2&per_page=2')).toEqual([5, 2, 3])
    expect(await list('?page=4&per_page=2')).toEqual([5])
    expect(await list('?channel_type=WHATSAPP')).toEqual([1, 1])
    expect(await list('?channel_type=WHATSAPP&channel_type=VK')).toEqual([2, 1, 4])
    expect(await list('?country_code=KZ')).toEqual([1, 3])
    expect(await list('?country_code=KZ&country_code=RU&brand=TELE2')).toEqual([1, 2])
    expect(await list('?status=APPROVED')).toEqual([1, 2])
    expect(await list('?status=DRAFT&brand=MTS&per_page=1')).toEqual([4, 0])
  })
})

describe('an Idempotency-Key', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key })
  const formBody = (boundary: string, description = 'x') => {
    const form = formOf({ name: 'body', content: JSON.stringify(aName({ description })) }, aFile('file1'))
    const text = form.body.toString('latin1').replaceAll('----tidings-test-form', boundary)
    return [Buffer.from(text, 'latin1'), `multipart/form-data; boundary=${boundary}`] as const
  }

  test('makes a form count once, with any boundary', async () => {
    const [first, again, other] = [formBody('one'), formBody('two'), formBody('three', 'y')]
    const made = await post(first[0], { ...keyed('form'), 'content-type': first[1] })
    expect(made.status).toBe(201)
    const after = await printOfTables(api.sql)
    expect((await post(again[0], { ...keyed('form'), 'content-type': again[1] })).text).toBe(made.text)
    const refused = await post(other[0], { ...keyed('form'), 'content-type': other[1] })
    expect([refused.status, refused.body.error.code]).toEqual([422, 4220])
    expect(await printOfTables(api.sql)).toEqual(after)
  })

  test('makes JSON count once, and is the company’s own', async () => {
    const made = await post(aName(), keyed('json'))
    const after = await printOfTables(api.sql)
    expect((await post(aName(), keyed('json'))).text).toBe(made.text)
    expect(await printOfTables(api.sql)).toEqual(after)
    const other = await aMessagingSide(api.sql)
    const call = { method: 'POST', path: '/sender-names', body: aName(), headers: keyed('json') } as const
    const theirs = await api.call({ ...call, key: other.keys.ENTITY })
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(made.body.id)
  })
})

test('a form that is refused leaves the connection fit for the next request', async () => {
  const address = await api.listen('127.0.0.1')
  const headers = { authorization: `Bearer ${side.keys.ENTITY}` }
  const form = new FormData()
  form.set('body', JSON.stringify(aName()))
  form.set('scan', new Blob(['no document']), 'scan.pdf')
  form.set('file1', new Blob([Buffer.alloc(30 * 1024 * 1024, 32)]), 'large.pdf')
  form.set('file2', new Blob([Buffer.alloc(3 * 1024 * 1024, 32)]), 'more.pdf')
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(`${address}/api/v1/sender-names`, { method: 'POST', headers, body: form })
    expect([answer.status, await answer.json()]).toEqual([400, refusal(/^file1: must be at most 10 MB$/)])
  }
  form.delete('scan')
  form.set('file1', new Blob([PDF]), 'charter.pdf')
  form.delete('file2')
  expect((await fetch(`${address}/api/v1/sender-names`, { method: 'POST', headers, body: form })).status).toBe(201)
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
