import { beforeAll, expect, test } from 'vitest'
import { opensFormula, withFormula, withoutFormula } from '../../../base/formula.ts'
import { money } from '../../../base/money.ts'
import { setSwitches } from '../../../domain/companies/companies.ts'
import { receiveInbound } from '../../../domain/inbound/inbound.ts'
import { monthOf } from '../../../domain/ledger/account.ts'
import { topUp } from '../../../domain/ledger/ledger.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { useApp } from '../../../testing/api.ts'
import { filesIn } from '../../../testing/archive.ts'
import { aPerson, CabinetBrowser, cabinetRoutes, staff } from '../../../testing/cabinet.ts'
import { aGateway } from '../../../testing/engines.ts'
import { aCompany, anApprovedSender, aPartner } from '../../../testing/factories.ts'
import { aDispatch, billingZone, someRecipients } from '../../../testing/world.ts'

/** Every file of the cabinet, for staff, with a formula in every text that people outside can write. */

const { api } = useApp('/docs/partner.json')
const FORMULA = '=HYPERLINK(1)'
const month = monthOf(new Date(), billingZone).slice(0, 7)
let routes: string[]
let admin: CabinetBrowser
let companyId: number
let dispatchId: number

/** Each route, with its query, and whether its file has a text that people write. */
const files: Record<string, { query?: () => string; hasText: boolean }> = {
  'GET /dispatches/:id/report': { hasText: true },
  'GET /inbound/report': { hasText: true },
  'GET /messages/report': { hasText: true },
  'GET /blacklist/export': { hasText: true },
  'GET /money/ledger/file': { hasText: true },
  'GET /money/statements/:month/file': { hasText: false },
  'GET /numbering/export': { query: () => 'kind=register', hasText: true },
  'GET /tariffs/export': { hasText: false },
  'GET /tariffs/prices/export': { hasText: false },
}

beforeAll(async () => {
  const all = (await cabinetRoutes(api.sql)).map(({ route }) => route)
  routes = all.filter(route => /^GET .*\/(report|export|file)$/.test(route))
  await haveFormulas()
  admin = new CabinetBrowser(() => api.app)
  await admin.signIn((await aPerson(api.sql, staff, 'admin')).login)
})

async function haveFormulas() {
  const { sql } = api
  const partner = await aPartner(sql)
  companyId = await aCompany(sql, partner, { name: FORMULA })
  await setSwitches(sql, companyId, { inbound: true })
  const sender = await anApprovedSender(sql, companyId, { senderName: 'Shop' })
  await anApprovedSender(sql, companyId, { channelType: 'WHATSAPP', senderName: 'Shop' })
  const world = { partner, companyId, senders: [sender] }
  dispatchId = await aDispatch(sql, await loadNumbering(sql), world, someRecipients(1), { text: FORMULA })
  await sql`update dispatches set name = ${FORMULA} where dispatch_id = ${dispatchId}`
  await sql`update senders set sender_name = '=SUM(1)' where company_id = ${companyId}`
  await topUp(sql, companyId, { amount: money('7'), note: FORMULA }, { billingZone, now: new Date() })
  await sql`insert into blacklist (company_id, destination, comment) values (${companyId}, '79160000063', ${FORMULA})`
  const { gatewayId } = await aGateway(sql, { channelType: 'WHATSAPP' })
  await sql`update senders set sender_name = 'Shop' where company_id = ${companyId} and channel_type = 'WHATSAPP'`
  await receiveInbound(sql, gatewayId, { from: '79160000061', to: 'Shop', text: FORMULA, receivedAt: new Date() })
  await sql`
    with operator as (insert into operators (inn, name) values ('7700000003', ${FORMULA}) returning operator_id)
    insert into numbering_ranges (first, last, operator_id, region)
    select 79990000000, 79990009999, operator_id, '77' from operator`
}

async function read(route: string, more: string): Promise<Buffer> {
  const path = route.split(' ')[1]!.replace(':id', String(dispatchId)).replace(':month', month)
  const query = [files[route]!.query?.(), `companyId=${companyId}`, more].filter(Boolean).join('&')
  const headers = { host: 'localhost:8080', cookie: admin.cookie! }
  const answer = await api.app.inject({ url: `/cabinet/api${path}?${query}`, headers })
  expect([route, answer.statusCode]).toEqual([route, 200])
  return answer.rawPayload
}

/** Cells of a CSV file with any separator. */
const cellsOf = (text: string) =>
  [...text.replace('\ufeff', '').matchAll(/(?:^|[,;\n])(?:"((?:[^"]|"")*)"|([^",;\r\n]*))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )

const isNumber = (cell: string) => /^-\d+([.,]\d+)?$/.test(cell)

test('the list above has every file', () => {
  expect(routes.toSorted()).toEqual(Object.keys(files).toSorted())
})

test.each(Object.entries(files))('%s has no cell that a spreadsheet would calculate', async (route, { hasText }) => {
  for (const language of ['en', 'ru']) {
    const text = (await read(route, `format=csv&language=${language}`)).toString()
    const cells = cellsOf(text)
    expect(cells.length).toBeGreaterThan(2)
    expect(cells.filter(cell => opensFormula.test(cell) && !isNumber(cell))).toEqual([])
    if (hasText) expect(cells).toContain(`'${FORMULA}`)
  }
})

test('GET /dispatches/:id/report as a workbook has no formula', async () => {
  const workbook = filesIn(await read('GET /dispatches/:id/report', 'format=xlsx'))
  const sheet = [...workbook].filter(([name]) => name.startsWith('xl/worksheets/')).map(([, xml]) => xml)
  expect(sheet.join()).toContain(FORMULA)
  expect(sheet.join()).not.toMatch(/<f[ >]/)
})

test.each(['=1', '+7', '-1', '@a', 'МТС', "'=1", "'quoted'", ''])('the text %j is read back as it was', text => {
  expect(withFormula(withoutFormula(text))).toBe(text === "'=1" ? '=1' : text)
})
