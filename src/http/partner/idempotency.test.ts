import { beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../db/sql.ts'
import { type Call, formOf, usePartnerApi } from '../../testing/api.ts'
import { aDispatch, approvedSenders, PDF, printOfTables } from '../../testing/conformance/world.ts'
import { countLockWaits, PATIENT } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, aPartner, numberOf, type TestPartner } from '../../testing/factories.ts'

/** `Idempotency-Key` on every creating POST: the same request twice has one effect and one answer. */

const api = usePartnerApi()
let partner: TestPartner
let companyId: number
let senderIds: number[]
let openId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  senderIds = Object.values(await approvedSenders(api.sql, companyId))
  openId = await aNewDispatch()
})

const messages = [
  { destination: numberOf.MTS, substitutions: { name: 'Anna' } },
  { destination: 'no number' },
  { destination: numberOf.TELE2, substitutions: { name: 'Boris' } },
  { destination: numberOf.BEELINE },
  { destination: numberOf.MTS, substitutions: { name: 'Anna' } },
]
const dispatchBody = () => aDispatch(companyId, senderIds, { text: 'Hello, {name}', messages })
const companyBody = (name = 'Vasilek') => ({
  company: { name, counteragentType: 'LEGAL', counteragentInn: '7700000002' },
})
const senderBody = () => ({
  companyId,
  senderName: 'VASILEK',
  channelType: 'SMS',
  commonType: 'COMMON',
  brand: 'MTS',
  dateFrom: '2026-01-01T00:00:00Z',
})

async function aNewDispatch(): Promise<number> {
  const answer = await api.call({ method: 'POST', path: '/dispatches', token: partner.token, body: dispatchBody() })
  return answer.body.id
}

type Creating = {
  path: () => string
  form?: boolean
  body: () => object
  other: () => object
  table: string
  adds: number
}

const file = (content: string) => formOf({ name: 'file', filename: 'charter.pdf', content })

const creating: Record<string, Creating> = {
  'POST /company': {
    path: () => '/company',
    body: companyBody,
    other: () => companyBody('Landysh'),
    table: 'companies',
    adds: 1,
  },
  'POST /company/{id}/documents': {
    path: () => `/company/${companyId}/documents`,
    form: true,
    body: () => file(PDF.toString()),
    other: () => file(`${PDF}more`),
    table: 'company_documents',
    adds: 1,
  },
  'POST /senders': {
    path: () => '/senders',
    body: senderBody,
    other: () => ({ ...senderBody(), brand: 'TELE2' }),
    table: 'senders',
    adds: 1,
  },
  'POST /dispatches': {
    path: () => '/dispatches',
    body: dispatchBody,
    other: () => ({ ...dispatchBody(), name: 'Autumn sale' }),
    table: 'messages',
    adds: 5,
  },
  'POST /dispatches/{id}/messages': {
    path: () => `/dispatches/${openId}/messages`,
    body: () => ({ messages }),
    other: () => ({ messages: messages.slice(1) }),
    table: 'messages',
    adds: 5,
  },
}

let keys = 0
const aKey = () => `key-${++keys}`

function post({ path, form }: Creating, body: object, key: string, given: Partial<Call> = {}): Call {
  const sent = form ? (body as ReturnType<typeof formOf>) : { body, headers: {} }
  const headers = { ...sent.headers, 'idempotency-key': key }
  return { method: 'POST', path: path(), token: partner.token, body: sent.body, ...given, headers }
}

async function rowsOf(table: string): Promise<number> {
  const [row] = await api.sql`select count(*) as rows from ${api.sql(table)}`
  return row!.rows
}

const refusal = (code: number) => ({ error: { code, msg: expect.any(String) } })

describe.each(Object.entries(creating))('%s', (_, endpoint) => {
  test('repeated with its key gives the first answer again, to the letter, and has one effect', async () => {
    const key = aKey()
    const before = await rowsOf(endpoint.table)
    const first = await api.call(post(endpoint, endpoint.body(), key))
    expect(first.body).not.toHaveProperty('error')
    const after = await printOfTables(api.sql)

    for (let i = 0; i < 3; i++) {
      const again = await api.call(post(endpoint, endpoint.body(), key))
      expect([again.status, again.text]).toEqual([first.status, first.text])
    }
    expect(await printOfTables(api.sql)).toEqual(after)
    expect(await rowsOf(endpoint.table)).toBe(before + endpoint.adds)
  })

  test('with another key, or none, is another request', async () => {
    const before = await rowsOf(endpoint.table)
    await api.call(post(endpoint, endpoint.body(), aKey()))
    await api.call(post(endpoint, endpoint.body(), aKey()))
    const { 'idempotency-key': _key, ...headers } = post(endpoint, endpoint.body(), 'x').headers!
    await api.call({ ...post(endpoint, endpoint.body(), 'x'), headers })
    expect(await rowsOf(endpoint.table)).toBe(before + 3 * endpoint.adds)
  })

  test('with a used key and another body is 4220 and changes nothing', async () => {
    const key = aKey()
    const first = await api.call(post(endpoint, endpoint.body(), key))
    const after = await printOfTables(api.sql)
    const other = await api.call(post(endpoint, endpoint.other(), key))
    expect([other.status, other.body]).toEqual([422, refusal(4220)])
    expect(await printOfTables(api.sql)).toEqual(after)
    expect((await api.call(post(endpoint, endpoint.body(), key))).text).toBe(first.text)
  })

  test('with a key used for another path is 4220', async () => {
    const key = aKey()
    const other = endpoint === creating['POST /company'] ? creating['POST /senders']! : creating['POST /company']!
    await api.call(post(other, other.body(), key))
    const after = await printOfTables(api.sql)
    const answer = await api.call(post(endpoint, endpoint.body(), key))
    expect([answer.status, answer.body]).toEqual([422, refusal(4220)])
    expect(await printOfTables(api.sql)).toEqual(after)
  })

  test('while the first request is being processed is 4090, and succeeds afterwards', async () => {
    const key = aKey()
    const other = connect(api.url, { max: 1, ...PATIENT })
    try {
      // The table is locked against writing: the first request waits in the middle of its transaction.
      let release = () => {}
      const released = new Promise<void>(resolve => (release = resolve))
      let locked = () => {}
      const isLocked = new Promise<void>(resolve => (locked = resolve))
      const holding = other.begin(async tx => {
        await tx`lock table ${tx(endpoint.table)} in share row exclusive mode`
        locked()
        await released
      })
      await isLocked
      const first = api.call(post(endpoint, endpoint.body(), key))
      await eventually(async () => expect(await countLockWaits(api.sql)).toBeGreaterThan(0))

      const second = await api.call(post(endpoint, endpoint.body(), key))
      expect([second.status, second.body]).toEqual([409, refusal(4090)])
      const differing = await api.call(post(endpoint, endpoint.other(), key))
      expect(differing.status).toBe(409)

      release()
      await holding
      const done = await first
      expect(done.body).not.toHaveProperty('error')
      expect((await api.call(post(endpoint, endpoint.body(), key))).text).toBe(done.text)
    } finally {
      await other.end()
    }
  })

  test('a request that failed leaves its key free', async () => {
    const key = aKey()
    const bad = endpoint.form ? file('no document') : {}
    const refused = await api.call(post(endpoint, bad, key))
    expect([refused.status, refused.body]).toEqual([400, refusal(4000)])
    expect((await api.call(post(endpoint, endpoint.body(), key))).body).not.toHaveProperty('error')
  })

  test('a key is forgotten after 24 hours, not before', async () => {
    const key = aKey()
    const age = (hours: number) =>
      api.sql`update idempotency_keys set created_at = now() - make_interval(mins => ${hours * 60}) where key = ${key}`
    const before = await rowsOf(endpoint.table)
    const first = await api.call(post(endpoint, endpoint.body(), key))
    await age(23.9)
    expect((await api.call(post(endpoint, endpoint.body(), key))).text).toBe(first.text)
    await age(24.1)
    const later = await api.call(post(endpoint, endpoint.other(), key))
    expect(later.status).toBe(first.status)
    expect(later.text).not.toBe(first.text)
    expect(await rowsOf(endpoint.table)).toBeGreaterThan(before + endpoint.adds)
    expect((await api.call(post(endpoint, endpoint.other(), key))).text).toBe(later.text)
  })

  test('twenty at once have one effect and one answer', async () => {
    const key = aKey()
    const before = await rowsOf(endpoint.table)
    const all = await Promise.all(Array.from({ length: 20 }, () => api.call(post(endpoint, endpoint.body(), key))))
    const successes = all.filter(({ status }) => status < 300)
    const others = all.filter(({ status }) => status >= 300)
    expect(new Set(successes.map(({ text }) => text)).size).toBe(1)
    expect(others.map(({ body }) => body.error.code)).toEqual(others.map(() => 4090))
    expect(await rowsOf(endpoint.table)).toBe(before + endpoint.adds)
  })

  test.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['not ASCII', 'caf\u00e9'],
  ])('a key that is %s is 4000', async (_what, key) => {
    const answer = await api.call(post(endpoint, endpoint.body(), key))
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: { code: 4000, msg: expect.stringMatching(/^idempotency-key: /) } },
    ])
  })
})

describe('a dispatch with rejected recipients', () => {
  test('is answered the same again after it was started, stopped and given more messages', async () => {
    const key = aKey()
    const appendKey = aKey()
    const create = creating['POST /dispatches']!
    const first = await api.call(post(create, create.body(), key))
    expect(first.body).toMatchObject({ total: 5, success: 3, failed: 2, status: 'CREATED' })
    const append: Creating = {
      ...creating['POST /dispatches/{id}/messages']!,
      path: () => `/dispatches/${first.body.id}/messages`,
    }
    const added = await api.call(post(append, append.body(), appendKey))
    expect(added.body).toMatchObject({ id: first.body.id, total: 5, success: 3, failed: 2 })

    const act = (verb: string) =>
      api.call({ method: 'POST', path: `/dispatches/${first.body.id}/${verb}`, token: partner.token })
    for (const verb of ['start', 'stop']) {
      expect((await act(verb)).status).toBe(200)
      expect((await api.call(post(create, create.body(), key))).text).toBe(first.text)
      expect((await api.call(post(append, append.body(), appendKey))).text).toBe(added.text)
    }
  })

  test('is answered the same again after messages were sent and failed', async () => {
    const key = aKey()
    const create = creating['POST /dispatches']!
    const first = await api.call(post(create, create.body(), key))
    await api.sql`update messages set status = 'FAILED', error_code = 455, final_at = now(), price = 0
      where dispatch_id = ${first.body.id} and status = 'CREATED'`
    expect((await api.call(post(create, create.body(), key))).text).toBe(first.text)
  })

  test('is answered the same again after its company was disabled and a sender suspended', async () => {
    const otherCompany = await aCompany(api.sql, partner)
    const ids = Object.values(await approvedSenders(api.sql, otherCompany))
    const create = creating['POST /dispatches']!
    const call = post(create, aDispatch(otherCompany, ids), aKey())
    const first = await api.call(call)
    await api.call({ method: 'POST', path: `/senders/${ids[0]}/suspend`, token: partner.token })
    await api.call({
      method: 'PUT',
      path: `/company/${otherCompany}`,
      token: partner.token,
      body: { status: 'DISABLED' },
    })
    expect((await api.call(call)).text).toBe(first.text)
  })
})

test('two partners may use the same key', async () => {
  const other = await aPartner(api.sql)
  const key = aKey()
  const create = creating['POST /company']!
  const mine = await api.call(post(create, create.body(), key))
  const theirs = await api.call(post(create, create.body(), key, { token: other.token }))
  expect(theirs.status).toBe(201)
  expect(theirs.body.companyId).not.toBe(mine.body.companyId)
})

test('a key is no way around the token', async () => {
  const key = aKey()
  const create = creating['POST /company']!
  await api.call(post(create, create.body(), key))
  expect((await api.call(post(create, create.body(), key, { token: '' }))).status).toBe(401)
})

test('a dry run stores no key and meets none', async () => {
  const key = aKey()
  const dry: Creating = { ...creating['POST /dispatches']!, path: () => '/dispatches?dryRun=true' }
  const before = await printOfTables(api.sql)
  expect((await api.call(post(dry, dry.body(), key))).body.id).toBe(0)
  expect((await api.call(post(dry, dry.other(), key))).body.id).toBe(0)
  expect(await printOfTables(api.sql)).toEqual(before)
})

test('the key is kept apart from the effect by nothing: both are gone when the work fails', async () => {
  const key = aKey()
  const before = await printOfTables(api.sql)
  const create = creating['POST /dispatches']!
  const call = post(create, { ...create.body(), senderIds: [999_999_999] }, key)
  expect((await api.call(call)).status).toBe(400)
  expect(await printOfTables(api.sql)).toEqual(before)
})

test('nothing was our fault', () => {
  expect(api.errors).toEqual([])
})
