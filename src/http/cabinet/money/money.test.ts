import { beforeAll, describe, expect, test } from 'vitest'
import { formatMoney, money } from '../../../base/money.ts'
import { verifyLedger } from '../../../domain/audit/verify.ts'
import { chargeDueFees } from '../../../domain/ledger/fees.ts'
import { correctBalance, topUp } from '../../../domain/ledger/ledger.ts'
import { entriesOfLine, pageOfLines } from '../../../domain/ledger/lines.ts'
import { loadNumbering } from '../../../domain/numbering/numbering.ts'
import { importTariffs } from '../../../domain/pricing/imports.ts'
import { recordStatusReports } from '../../../domain/recording/recording.ts'
import { approveSender } from '../../../domain/senders/moderation.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany, ofPartner, staff } from '../../../testing/cabinet.ts'
import { aCompany, aPartner, aSender } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start, type World } from '../../../testing/world.ts'
import type {
  AccountsAnswer,
  EntriesAnswer,
  LedgerAnswer,
  MoneyAnswer,
  StatementAnswer,
  StatementsAnswer,
} from './money.ts'
import { periodOf, type StatementFile } from './statements/statement-sections.ts'

const { api } = useApp('/docs/partner.json')
const FORMULA = '=HYPERLINK("https://example.com")'
const NOW = new Date('2026-11-12T11:32:00Z')
let world: World
let foreign: { companyId: number; day: string; lineId: number }
let dispatchId: number

/** Entries of October and November: charges of two days, a package, a fee, a top-up and its corrections. */
beforeAll(async () => {
  world = await aWorld(api.sql)
  const { companyId, partner } = world
  const steps = [{ from: 1, price: '1.2345', priceMauBatch: '10' }]
  await importTariffs(api.sql, partner.login, [{ senderType: 'COMMON', brand: 'MEGAFON', pricingModel: 'MAU', steps }])
  const paid = await aSender(api.sql, companyId, { commonType: 'PROMO', senderName: '<b>SHOP</b>' })
  await approveSender(api.sql, paid.senderId, () => money('25'), new Date('2026-10-20T12:00:00Z'))
  await chargeDueFees(api.sql, { billingZone, now: new Date('2026-10-20T12:00:00Z') })
  await topUp(api.sql, companyId, { amount: money('1000'), note: FORMULA }, at('2026-10-21'))
  for (const amount of ['-300.5', '0.25'])
    await api.sql.begin(tx =>
      correctBalance(tx, companyId, { amount: money(amount), reason: FORMULA }, at('2026-10-21')),
    )
  const numbering = await loadNumbering(api.sql)
  for (const day of ['2026-10-30', '2026-11-09', '2026-11-10', '2026-11-11']) {
    dispatchId = await aDispatch(api.sql, numbering, world, someRecipients(8))
    await start(api.sql, world, dispatchId, at(day).now)
    const rows = await api.sql<
      { uuid: string }[]
    >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId}`
    for (const some of [rows.slice(0, 3), rows.slice(3)])
      await recordStatusReports(
        api.sql,
        companyId,
        some.map(({ uuid }) => ({ uuid, sentAt: at(day).now, final: { status: 'DELIVERED', at: at(day).now } })),
        at(day),
      )
  }
  api.now = NOW
  const elsewhere = await aCompany(api.sql, await aPartner(api.sql))
  await topUp(api.sql, elsewhere, { amount: money('7') }, at('2026-11-01'))
  const { lines } = await pageOfLines(api.sql, elsewhere, {}, undefined, 1)
  foreign = { companyId: elsewhere, day: lines[0]!.day, lineId: lines[0]!.lineId }
})

const at = (day: string) => ({ billingZone, now: new Date(`${day}T12:00:00Z`) })

async function signedIn(...person: [Parameters<typeof aPerson>[1], string]) {
  const { login } = await aPerson(api.sql, ...person)
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn(login)).status).toBe(200)
  return browser
}

const accountant = () => signedIn(ofCompany(world.companyId), 'finance')
const admin = () => signedIn(staff, 'admin')

async function found<T>(browser: CabinetBrowser, path: string): Promise<T> {
  const { status, body } = await browser.ask('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body as T
}

async function fileOf({ cookie }: CabinetBrowser, path: string) {
  const answer = await api.app.inject({
    url: `/cabinet/api${path}`,
    headers: { host: 'localhost:8080', cookie: cookie! },
  })
  expect(answer.statusCode).toBe(200)
  return answer
}

const sum = (amounts: number[]) => formatMoney(amounts.reduce((total, amount) => total + money(amount), 0n))

describe('the budget', () => {
  test('shows the spent amount by day, channel and operator, and when it runs out at the rate of the last week', async () => {
    const { companyId } = world
    await api.sql`update companies set budget = 300 where company_id = ${companyId}`
    const answer = await found<MoneyAnswer>(await accountant(), '/money')
    const { spent, channels, packages, fees, days, free, today, daysInMonth, pace } = answer
    expect([today, daysInMonth, days.length]).toEqual(['2026-11-12', 30, 12])
    expect(sum([...channels.map(({ amount }) => amount), packages, fees])).toBe(sum([spent]))
    expect(sum(days.map(({ amount }) => amount))).toBe(sum([spent]))
    expect(channels.map(({ operator }) => operator).sort()).toEqual(['BEELINE', 'MEGAFON', 'MTS', 'TELE2'])
    expect(free).toBeCloseTo(300 - spent, 4)
    // Three of the seven days before today had charges.
    expect(pace * 7).toBeCloseTo(spent, 2)
    const lasts = Math.floor(free! / pace)
    const on = new Date(Date.UTC(2026, 10, 12 + lasts)).toISOString().slice(0, 10)
    expect(answer.forecast).toEqual(on < '2026-12' ? { kind: 'out', on } : { kind: 'lasts' })
  })

  test.each([
    ['without a limit', "budget = null, billing = 'POSTPAID'", 'unlimited'],
    ['with nothing left', "budget = 1, billing = 'POSTPAID'", 'empty'],
    ['with enough for the month', "budget = 100000, billing = 'POSTPAID'", 'lasts'],
  ])('%s has its own kind in the answer', async (_, terms, kind) => {
    await api.sql.unsafe(`update companies set ${terms} where company_id = ${world.companyId}`)
    expect((await found<MoneyAnswer>(await accountant(), '/money')).forecast.kind).toBe(kind)
    await api.sql`update companies set budget = null where company_id = ${world.companyId}`
  })

  test('of a company with too few days has no forecast', async () => {
    await api.sql`update companies set billing = 'PREPAID' where company_id = ${foreign.companyId}`
    const { forecast } = await found<MoneyAnswer>(await admin(), `/money?companyId=${foreign.companyId}`)
    expect(forecast).toEqual({ kind: 'unknown' })
  })
})

describe('the ledger', () => {
  test('sums entries by day and cause, with the balance at the end of each day and the entries of each line', async () => {
    const browser = await accountant()
    const { lines, dayEnds } = await found<LedgerAnswer>(browser, '/money/ledger')
    const [newest] = lines.filter(({ kind }) => kind === 'MESSAGES')
    expect(newest).toMatchObject({ day: '2026-11-11', dispatchId, dispatchName: 'Test', messages: 8, entries: 2 })
    const { balance } = await found<MoneyAnswer>(browser, '/money')
    expect(dayEnds.find(({ day }) => day === '2026-11-11')!.balance).toBe(balance)
    const isCharge = (kind: string) => kind !== 'TOPUP' && kind !== 'CORRECTION'
    expect(sum(lines.map(({ kind, amount }) => (isCharge(kind) ? -amount : amount)))).toBe(sum([balance]))

    const { entries } = await found<EntriesAnswer>(browser, `/money/ledger/${newest!.day}/${newest!.lineId}`)
    expect(entries.map(({ messages }) => messages)).toEqual([5, 3])
    expect(sum(entries.map(({ amount }) => amount))).toBe(sum([newest!.amount]))
  })

  test('is filtered by kind and day, and refuses an invalid day', async () => {
    const browser = await accountant()
    const kindsIn = async (query: string) =>
      (await found<LedgerAnswer>(browser, `/money/ledger?${query}`)).lines.map(({ kind, day }) => [kind, day])
    expect(await kindsIn('kind=TOPUP')).toEqual([['TOPUP', '2026-10-21']])
    expect(await kindsIn('kind=CORRECTION')).toEqual(Array(2).fill(['CORRECTION', '2026-10-21']))
    expect(await kindsIn('kind=SENDER_FEE&to=2026-10-31')).toEqual([['SENDER_FEE', '2026-10-20']])
    expect(new Set((await kindsIn('from=2026-11-10&to=2026-11-10')).map(([, day]) => day))).toEqual(
      new Set(['2026-11-10']),
    )
    for (const query of ['from=2026-02-30', 'kind=GIFT', 'after=x', 'to=today'])
      expect((await browser.ask('GET', `/money/ledger?${query}`)).status).toBe(400)
  })

  test('is a CSV file of a period, whose amounts add up to the balance and whose formulas are texts', async () => {
    const browser = await accountant()
    const { body, headers } = await fileOf(browser, '/money/ledger/file?language=en')
    expect(headers['content-disposition']).toBe(`attachment; filename="ledger-${world.companyId}.csv"`)
    const amounts = body
      .split('\r\n')
      .slice(1, -1)
      .map(row => Number(/,(-?[\d.]+),[^,]*$/.exec(row.replace(/"[^"]*(""[^"]*)*"/g, ''))![1]))
    expect(sum(amounts)).toBe(sum([(await found<MoneyAnswer>(browser, '/money')).balance]))
    expect(body).toContain(`"'${FORMULA.replaceAll('"', '""')}"`)
    const russian = (await fileOf(browser, '/money/ledger/file?language=ru')).body.split('\r\n')
    expect(russian[0]).toBe('\ufeffДень;Вид;Основание;Рассылка;Сообщений;"Сумма, RUB";Комментарий')
    expect(russian[1]).toMatch(/;-\d+,\d+;$/)
  })

  test('takes the same work with many entries and lines: a page is read by an index', async () => {
    const companyId = await aCompany(api.sql, world.partner)
    await api.sql`
      insert into ledger_lines (
        company_id, day, month, kind, dispatch_id, amount, entries, first_entry_id, last_entry_id, first_at, last_at, balance)
      select ${companyId}, date '2026-01-01' + n / 100, '2026-01-01', case n % 3 when 0 then 'MAU_PACKAGE' else 'MESSAGES' end,
        n, 1, 100, n * 100, n * 100 + 99, now(), now(), 0 from generate_series(1, 20000) n`
    await api.sql`
      insert into ledger_entries (company_id, kind, debit, credit, amount, currency, month, dispatch_id)
      select ${companyId}, 'MESSAGES', 'balance', 'messages', 1, 'RUB', '2026-01-01', n % 5 from generate_series(1, 20000) n`
    const [ends] = await api.sql<{ first: number; last: number }[]>`
      select min(entry_id) as first, max(entry_id) as last from ledger_entries where company_id = ${companyId}`
    const [line] = await api.sql<{ day: string; lineId: number }[]>`
      select day::text as day, line_id from ledger_lines where company_id = ${companyId} and dispatch_id = 9000`
    await api.sql`
      update ledger_lines set first_entry_id = ${ends!.first}, last_entry_id = ${ends!.last}, dispatch_id = 3, kind = 'MESSAGES'
      where company_id = ${companyId} and dispatch_id = 9000`
    await api.sql`analyze`
    const after = { day: '2026-05-01', lineId: Number.MAX_SAFE_INTEGER }
    for (const mode of planModes) {
      for (const kind of [undefined, 'MAU_PACKAGE'] as const) {
        const reads = await readsOf(
          api,
          mode,
          sql => pageOfLines(sql, companyId, { kind, to: '2026-06-01' }, after, 50),
          /from ledger_lines/,
        )
        const lines = reads.filter(({ table }) => table === 'ledger_lines')
        expect(lines.map(({ index }) => index !== undefined)).toEqual([true])
        expect(lines[0]!.rows).toBeLessThanOrEqual(kind ? 200 : 60)
      }
      const reads = await readsOf(
        api,
        mode,
        sql => entriesOfLine(sql, companyId, line!, undefined, 50),
        /from ledger_entries/,
      )
      expect(reads).toEqual([{ table: 'ledger_entries', index: 'ledger_entries_by_cause', rows: 51 }])
    }
  })
})

describe('a statement', () => {
  test('equals the ledger to the kopeck: each month begins with the end of the previous one, and every list adds up to the spent amount', async () => {
    const browser = await accountant()
    const { months } = await found<StatementsAnswer>(browser, '/money/statements')
    expect(months.map(({ month }) => month)).toEqual(['2026-11', '2026-10'])
    expect(months[0]!.opening).toBe(months[1]!.closing)
    expect(months[1]!.opening).toBe(0)
    expect(months.map(({ corrected }) => corrected)).toEqual([0, -300.25])
    for (const { month, spent, toppedUp, corrected } of months) {
      const statement = await found<StatementAnswer>(browser, `/money/statements/${month}`)
      const { channels, tariffs, packages, fees, topUps, corrections, withoutDetails } = statement
      const [ledger] = await api.sql<{ spent: bigint }[]>`
        select sum(amount) as spent from ledger_entries
        where company_id = ${world.companyId} and month = ${`${month}-01`} and kind not in ('TOPUP', 'CORRECTION')`
      expect(sum([spent])).toBe(formatMoney(ledger!.spent))
      expect(sum([...channels.map(({ amount }) => amount), packages, fees.amount])).toBe(sum([spent]))
      expect(sum([...tariffs.flatMap(({ amount, packages }) => [amount, packages]), fees.amount])).toBe(sum([spent]))
      expect([sum(topUps.map(({ amount }) => amount)), withoutDetails]).toEqual([sum([toppedUp]), 0])
      expect(sum(corrections.map(({ amount }) => amount))).toBe(sum([corrected]))
    }
    expect(await verifyLedger(api.sql, { companyId: world.companyId })).toEqual([])
    expect((await browser.ask('GET', '/money/statements/2019-01')).status).toBe(404)
  })

  test('exists for a month without entries too, but not before the first month or after the current one', async () => {
    const companyId = await aCompany(api.sql, world.partner)
    await topUp(api.sql, companyId, { amount: money('7') }, at('2026-08-31'))
    const [browser, of] = [await admin(), `companyId=${companyId}`]
    const { months } = await found<StatementsAnswer>(browser, `/money/statements?${of}`)
    expect(months.map(({ month }) => month)).toEqual(['2026-11', '2026-10', '2026-09', '2026-08'])
    const quiet = { opening: 7, toppedUp: 0, spent: 0, closing: 7, channels: [], topUps: [] }
    for (const [month, isOver] of [
      ['2026-10', true],
      ['2026-11', false],
    ] as const)
      expect(await found<StatementAnswer>(browser, `/money/statements/${month}?${of}`)).toMatchObject({
        ...quiet,
        isOver,
      })
    const { rawPayload } = await fileOf(browser, `/money/statements/2026-10/file?format=pdf&${of}`)
    expect(rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    for (const month of ['2026-07', '2026-12'])
      for (const path of ['', '/file'])
        expect((await browser.ask('GET', `/money/statements/${month}${path}?${of}`)).status).toBe(404)
  })

  test('names its days, and says if the month is not over', async () => {
    const periodIn = (month: string, now: string) =>
      periodOf({ statement: { month }, language: 'en', at: new Date(now), zone: billingZone } as StatementFile)
    expect(periodIn('2026-10-01', '2026-10-31T21:00:00Z')).toBe('1 October 2026 – 31 October 2026')
    expect(periodIn('2026-10-01', '2026-10-31T20:59:00Z')).toBe(
      '1 October 2026 – 31 October 2026, the month is not over',
    )
    expect(periodIn('2026-02-01', '2026-02-05T12:00:00Z')).toBe(
      '1 February 2026 – 5 February 2026, the month is not over',
    )
  })

  test('is a CSV file whose sections add up, and a PDF file, in both languages', async () => {
    const browser = await accountant()
    const { spent } = await found<StatementAnswer>(browser, '/money/statements/2026-10')
    const { body, headers } = await fileOf(browser, '/money/statements/2026-10/file?format=csv')
    expect(headers['content-disposition']).toBe(`attachment; filename="statement-${world.companyId}-2026-10.csv"`)
    const rows = body.split('\r\n').filter(row => row.startsWith('By tariff,'))
    const amounts = rows.map(row => Number(row.split(',').at(-1)))
    expect(sum(amounts.slice(0, -1))).toBe(sum([spent]))
    expect(amounts.at(-1)).toBe(spent)
    const summed = body.split('\r\n').filter(row => row.startsWith('Summary,'))
    const [opening, toppedUp, corrected, charged, closing] = summed.map(row => Number(row.split(',').at(-1)))
    expect([opening, toppedUp, corrected, charged]).toEqual([0, 1000, -300.25, spent])
    expect(sum([toppedUp!, corrected!, -charged!])).toBe(sum([closing!]))
    expect(body).toContain('\r\nCorrections,Total,,,-300.25\r\n')
    for (const language of ['en', 'ru']) {
      const { rawPayload } = await fileOf(browser, `/money/statements/2026-10/file?format=pdf&language=${language}`)
      expect(rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    }
    const russian = (await fileOf(browser, '/money/statements/2026-10/file?language=ru')).body
    const total = String(spent).replace('.', ',')
    expect(russian).toContain('\r\nПо тарифам;Общее имя · МегаФон · ')
    expect(russian).toContain(`\r\nПо тарифам;Всего;;;${total}\r\n`)
    expect(russian).toContain('Общее имя · МегаФон')
  })
})

describe('a top-up', () => {
  const key = (name: string) => ({ headers: { 'idempotency-key': name } })

  test('of staff takes effect once, also if the request repeats', async () => {
    const browser = await admin()
    const path = `/money/top-ups?companyId=${foreign.companyId}`
    const send = () => browser.ask('POST', path, { amount: '100.50', note: 'Invoice 7' }, key('once'))
    const answers = [await send(), await send()]
    expect(answers.map(({ status, body }) => [status, body.balance])).toEqual([
      [200, 107.5],
      [200, 107.5],
    ])
    expect((await browser.ask('POST', path, { amount: '5', note: '' }, key('once'))).status).toBe(422)
    expect((await browser.ask('POST', path, { amount: '5', note: '' })).status).toBe(400)
    for (const amount of ['0', '-5', '1e3', '1,5', '1.23456', '100000000.0001'])
      expect((await browser.ask('POST', path, { amount, note: '' }, key(amount))).status).toBe(400)
    expect(await verifyLedger(api.sql, { companyId: foreign.companyId })).toEqual([])
  })

  test('and the payment terms are only for staff; an owner of a partner changes budgets', async () => {
    const owner = await signedIn(ofPartner(world.partner.partnerId), 'owner')
    const company = `companyId=${world.companyId}`
    const before = { budget: null, billing: 'POSTPAID' }
    const topUpBody = { amount: '1', note: '' }
    expect((await owner.ask('POST', `/money/top-ups?${company}`, topUpBody, key('theirs'))).status).toBe(403)
    const correction = { amount: '1', reason: 'More' }
    expect((await owner.ask('POST', `/money/corrections?${company}`, correction, key('theirs'))).status).toBe(403)
    const change = (browser: CabinetBrowser, after: object) =>
      browser.ask('PUT', `/money/terms?${company}`, { before, after })
    expect((await change(owner, { budget: null, billing: 'PREPAID' })).status).toBe(403)
    expect((await change(owner, { budget: '500', billing: 'POSTPAID' })).status).toBe(204)
    const late = await change(await admin(), { budget: '900', billing: 'PREPAID' })
    expect([late.status, late.body.error.msg]).toEqual([400, expect.stringContaining('by somebody else meanwhile')])
    const { budget, billing, terms } = await found<MoneyAnswer>(owner, `/money?${company}`)
    expect([budget, billing, terms.budget]).toEqual([500, 'POSTPAID', '500.0000'])
    await api.sql`update companies set budget = null where company_id = ${world.companyId}`
  })
})

describe('a correction', () => {
  const key = (name: string) => ({ headers: { 'idempotency-key': name } })

  test('of staff takes effect once, has a reason, and leaves a prepaid company the held amount', async () => {
    const companyId = await aCompany(api.sql, world.partner)
    await topUp(api.sql, companyId, { amount: money('1000') }, at('2026-11-11'))
    await api.sql`update companies set billing = 'PREPAID' where company_id = ${companyId}`
    await api.sql`update accounts set reserved = 60 where company_id = ${companyId}`
    const browser = await admin()
    const send = (amount: string, name: string, reason = ' A zero too many ') =>
      browser.ask('POST', `/money/corrections?companyId=${companyId}`, { amount, reason }, key(name))
    for (const time of [1, 2]) expect([time, (await send('-900', 'once')).body]).toEqual([time, { balance: 100 }])
    const [wrong] = (await found<LedgerAnswer>(browser, `/money/ledger?companyId=${companyId}`)).lines
    expect(wrong).toMatchObject({ kind: 'CORRECTION', amount: -900, note: 'A zero too many' })
    const tooMuch = await send('-40.0001', 'too much')
    expect([tooMuch.status, tooMuch.body.error.msg]).toEqual([
      400,
      expect.stringContaining('at most the free amount: 40.0000 RUB'),
    ])
    for (const amount of ['0', '+5', '1e3', '-100000000.0001']) expect((await send(amount, amount)).status).toBe(400)
    expect((await send('1', 'silent', '  ')).status).toBe(400)
    expect((await send('-40', 'all that is free')).body).toEqual({ balance: 60 })
    await api.sql`update companies set billing = 'POSTPAID' where company_id = ${companyId}`
    expect((await send('-100', 'below zero')).body).toEqual({ balance: -40 })
    await api.sql`update accounts set reserved = 0 where company_id = ${companyId}`
    expect(await verifyLedger(api.sql, { companyId })).toEqual([])
  })
})

describe('rights', () => {
  test('a partner and staff see the accounts of all their companies', async () => {
    const owner = await signedIn(ofPartner(world.partner.partnerId), 'viewer')
    const idsIn = async (browser: CabinetBrowser, query = '') =>
      (await found<AccountsAnswer>(browser, `/money/accounts${query}`)).items.map(({ companyId }) => companyId)
    expect(await idsIn(owner)).toContain(world.companyId)
    expect(await idsIn(owner)).not.toContain(foreign.companyId)
    expect(await idsIn(await admin(), `?search=${foreign.companyId}`)).toEqual([foreign.companyId])
    expect(await idsIn(await accountant())).toEqual([world.companyId])
  })

  const gets = (companyId: number) => [
    `/money?companyId=${companyId}`,
    `/money/ledger?companyId=${companyId}`,
    `/money/ledger/file?companyId=${companyId}`,
    `/money/ledger/${foreign.day}/${foreign.lineId}?companyId=${companyId}`,
    `/money/statements?companyId=${companyId}`,
    `/money/statements/2026-11?companyId=${companyId}`,
    `/money/statements/2026-11/file?companyId=${companyId}`,
  ]

  test('the money of another company is not found, nor are its lines under the own company', async () => {
    for (const browser of [await accountant(), await signedIn(ofPartner(world.partner.partnerId), 'owner')]) {
      for (const path of gets(foreign.companyId))
        expect([path, (await browser.ask('GET', path)).status]).toEqual([path, 404])
      const line = `/money/ledger/${foreign.day}/${foreign.lineId}?companyId=${world.companyId}`
      expect((await browser.ask('GET', line)).status).toBe(404)
    }
    const owner = await signedIn(ofPartner(world.partner.partnerId), 'owner')
    const terms = { budget: '1', billing: 'POSTPAID' }
    const change = { before: { ...terms, budget: null }, after: terms }
    expect((await owner.ask('PUT', `/money/terms?companyId=${foreign.companyId}`, change)).status).toBe(404)
    const none = await (await admin()).ask(
      'POST',
      '/money/top-ups?companyId=99999999',
      { amount: '1', note: '' },
      { headers: { 'idempotency-key': 'none' } },
    )
    expect(none.status).toBe(404)
  })

  test('roles without the right are refused', async () => {
    const moderator = await signedIn(staff, 'moderator')
    const own = [
      await signedIn(ofCompany(world.companyId), 'viewer'),
      await signedIn(ofCompany(world.companyId), 'sender'),
    ]
    for (const browser of [moderator, ...own])
      for (const path of [...gets(world.companyId), '/money/accounts'])
        expect([path, (await browser.ask('GET', path)).status]).toEqual([path, 403])
    const support = await signedIn(staff, 'support')
    for (const browser of [
      await accountant(),
      support,
      await signedIn(ofPartner(world.partner.partnerId), 'manager'),
    ]) {
      const path = `companyId=${world.companyId}`
      expect((await browser.ask('POST', `/money/top-ups?${path}`, {})).status).toBe(403)
      expect((await browser.ask('POST', `/money/corrections?${path}`, {})).status).toBe(403)
      expect((await browser.ask('PUT', `/money/terms?${path}`, {})).status).toBe(403)
    }
  })
})
