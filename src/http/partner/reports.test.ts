import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { usePartnerApi } from '../../testing/api.ts'
import { aDispatch, approvedSenders } from '../../testing/conformance/world.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany, aPartner, numberOf, type TestPartner } from '../../testing/factories.ts'

const api = usePartnerApi()
let partner: TestPartner
let companyId: number
let senderIds: Awaited<ReturnType<typeof approvedSenders>>

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  senderIds = await approvedSenders(api.sql, companyId)
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})

async function dispatchTo(messages: object[], given: object = {}): Promise<number> {
  const body = aDispatch(companyId, Object.values(senderIds), { messages, ...given })
  const { status, body: created } = await api.call({
    method: 'POST',
    path: '/dispatches',
    token: partner.token,
    body,
  })
  expect(status).toBe(200)
  return created.id
}

const report = (dispatchId: number) =>
  api.call({ method: 'GET', path: `/dispatches/${dispatchId}/report`, token: partner.token })

const listed = async (dispatchId: number, page = 1) =>
  (
    await api.call({
      method: 'GET',
      path: `/messages?dispatchId=${dispatchId}&perPage=1000&page=${page}`,
      token: partner.token,
    })
  ).body.items

/** CSV as RFC 4180 has it, read slowly: cells in quotes may hold anything, and two quotes stand for one. */
function cellsOf(csv: string): string[][] {
  expect(csv.endsWith('\r\n')).toBe(true)
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

const columns =
  'messageUuid,destination,status,errorCode,parts,price,senderId,brandId,createdAt,sentAt,deliveredAt,text'

test('tells of every message what GET /messages tells, in the order submitted', async () => {
  const dispatchId = await dispatchTo([
    { destination: numberOf.MTS },
    { destination: 'nobody' },
    { destination: numberOf.TELE2, customText: 'Скидка 10%, "только" сегодня;\nприходите' },
    { destination: numberOf.MEGAFON },
  ])
  const delivered = new Date('2026-07-01T10:00:05.250Z')
  await api.sql`update messages set status = 'DELIVERED', sent_at = '2026-07-01T10:00:00Z', final_at = ${delivered}
    where dispatch_id = ${dispatchId} and destination = ${numberOf.MEGAFON}`

  const answer = await report(dispatchId)
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(answer.headers['content-disposition']).toBe(`attachment; filename="dispatch-${dispatchId}.csv"`)
  const [names, ...rows] = cellsOf(answer.text)
  expect(names!.join()).toBe(columns)
  const items: Record<string, unknown>[] = await listed(dispatchId)
  expect(rows).toEqual(items.map(item => names!.map(name => String(item[name] ?? ''))))
  expect(rows.map(row => row[2])).toEqual(['CREATED', 'FAILED', 'CREATED', 'DELIVERED'])
  expect(rows[1]).toContain('7401')
  expect(rows[3]!.slice(9, 11)).toEqual(['2026-07-01T10:00:00.000Z', delivered.toISOString()])
})

test.each([
  ['=1+1', "'=1+1"],
  ['+79160000001', "'+79160000001"],
  ['-2', "'-2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['=HYPERLINK("x","y")', '\'=HYPERLINK("x","y")'],
  ['1=1', '1=1'],
  ["'quoted'", "'quoted'"],
])('%j becomes no formula in a spreadsheet', async (text, kept) => {
  const dispatchId = await dispatchTo([{ destination: numberOf.MTS, customText: text }])
  const [, row] = cellsOf((await report(dispatchId)).text)
  expect(row!.at(-1)).toBe(kept)
})

test('a destination that was refused becomes no formula either', async () => {
  const dispatchId = await dispatchTo([{ destination: '=cmd|x' }])
  const [, row] = cellsOf((await report(dispatchId)).text)
  expect(row![1]).toBe("'=cmd|x")
})

test('is whole over many pages', async () => {
  const dispatchId = await dispatchTo(
    Array.from({ length: 2_345 }, (_, i) => ({ destination: numberOf.MTS, customText: `Number ${i}` })),
  )
  const [, ...rows] = cellsOf((await report(dispatchId)).text)
  expect(rows.map(row => row.at(-1))).toEqual(Array.from({ length: 2_345 }, (_, i) => `Number ${i}`))
})

test('reads no further than the client takes it, and stops when the client goes away', async () => {
  const messages = Array.from({ length: 20_000 }, () => ({ destination: numberOf.MTS }))
  const dispatchId = await dispatchTo(messages, { text: 'ы'.repeat(600) })
  const pages = watchPages()
  const response = await open(`/partner/v1/dispatches/${dispatchId}/report`)
  expect(response.statusCode).toBe(200)

  // The client reads nothing: the service reads only as many rows from the database as the buffers hold.
  await eventually(() => expect(pages.quietForMs()).toBeGreaterThan(300))
  const { read } = pages
  expect(read()).toBeGreaterThan(0)
  expect(read()).toBeLessThan(15)
  const before = read()
  response.destroy()
  await eventually(() => expect(pages.quietForMs()).toBeGreaterThan(300))
  expect(read()).toBeLessThanOrEqual(before + 1)
})

async function open(path: string): Promise<IncomingMessage> {
  const { port } = api.app.server.address() as AddressInfo
  const request = get({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${partner.token}` } })
  const [response] = await once(request, 'response')
  return response
}

/** Counts the statements that read a page of messages. */
function watchPages() {
  let count = 0
  let lastAt = performance.now()
  api.sql.options.debug = ((_: number, statement: string) => {
    if (!statement.includes('dispatch_position >=')) return
    count += 1
    lastAt = performance.now()
  }) as never
  return { read: () => count, quietForMs: () => performance.now() - lastAt }
}

test('a stranger finds no report', async () => {
  const dispatchId = await dispatchTo([{ destination: numberOf.MTS }])
  const stranger = await aPartner(api.sql)
  const answer = await api.call({
    method: 'GET',
    path: `/dispatches/${dispatchId}/report`,
    token: stranger.token,
  })
  expect([answer.status, answer.body.error.code]).toEqual([404, 4040])
})
