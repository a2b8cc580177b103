import { beforeAll, describe, expect, test } from 'vitest'
import type { Pool } from '../../../db/sql.ts'
import type { Place } from '../../../domain/people/person.ts'
import { CodeBox } from '../../../domain/verifications/code-box.ts'
import { verificationSums } from '../../../domain/verifications/verifications.ts'
import { openCaptchaSecret } from '../../../domain/verifiers/captcha-secret.ts'
import { defaultPage, defaultSettings } from '../../../domain/verifiers/verifier.ts'
import { requireAnyVerifier } from '../../../domain/verifiers/verifiers.ts'
import { useApp } from '../../../testing/api.ts'
import { aPerson, CabinetBrowser, ofCompany } from '../../../testing/cabinet.ts'
import { aCompany, anApprovedSender, aPartner, aSender, type TestPartner } from '../../../testing/factories.ts'
import { planModes, readsOf } from '../../../testing/plans.ts'
import { aVerifier, secret } from '../../../testing/verification.ts'
import type { BlockedAnswer } from './blocks.ts'
import type { VerificationAnswer } from './statistics.ts'
import type { OfferAnswer, WholeVerifier } from './verifiers.ts'

const { api } = useApp('/docs/partner.json')
let partner: TestPartner
let companyId: number
let foreignId: number
let owner: CabinetBrowser

beforeAll(async () => {
  partner = await aPartner(api.sql)
  companyId = await aCompany(api.sql, partner)
  foreignId = await aCompany(api.sql, await aPartner(api.sql))
  owner = await signedIn(ofCompany(companyId), 'owner')
})

async function signedIn(place: Place, role: string): Promise<CabinetBrowser> {
  const browser = new CabinetBrowser(() => api.app)
  expect((await browser.signIn((await aPerson(api.sql, place, role)).login)).status).toBe(200)
  return browser
}

const form = (name: string, settings = {}) => ({ name, settings: { ...defaultSettings, ...settings } })
const page = { ...defaultPage, origins: ['https://shop.example'] }
const aWidget = async (given = {}) =>
  (await owner.ask('POST', '/verification/widgets', { ...form('Shop'), page, ...given })).body.id as string
const whole = async (path: string) => (await owner.ask('GET', `/verification/${path}`)).body as WholeVerifier

describe('a verifier', () => {
  test('is created, changed and deleted with all its settings', async () => {
    const settings = { channels: ['VOICECODE', 'SMS'], fallbackSeconds: 30, codeLength: 4, countries: ['RU', 'KZ'] }
    const made = await owner.ask('POST', '/verification/verifiers', form('Login', settings))
    expect(made.status).toBe(201)
    const path = `verifiers/${made.body.id}`
    const before = await whole(path)
    expect(before).toMatchObject({ name: 'Login', companyId, page: null, snippets: null, settings })
    const changed = { ...form('Sign-in', settings), version: before.version }
    expect((await owner.ask('PUT', `/verification/${path}`, changed)).status).toBe(200)
    expect(await whole(path)).toMatchObject({ name: 'Sign-in', settings })
    expect((await owner.ask('DELETE', `/verification/${path}`)).status).toBe(204)
    expect((await owner.ask('GET', `/verification/${path}`)).status).toBe(404)
  })

  test('refuses a change that began before the newest change', async () => {
    const id = await aVerifier(api.sql, companyId)
    const { version } = await whole(`verifiers/${id}`)
    const save = (name: string) => owner.ask('PUT', `/verification/verifiers/${id}`, { ...form(name), version })
    const answers = await Promise.all([save('One'), save('Two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const refused = answers.find(({ status }) => status === 400)!
    expect(refused.body.error.msg).toBe('Somebody else changed this meanwhile: load it again')
    expect((await whole(`verifiers/${id}`)).name).toBe(answers[0]!.status === 200 ? 'One' : 'Two')
  })

  test.each([
    [{ codeLength: 9 }, 'length must be a whole number from 4 to 8'],
    [{ texts: { en: 'Hello' } }, 'text for en must contain {code}'],
    [{ channels: ['VIBER'] }, 'senders must give a name for VIBER, such as VIBER=NAME'],
    [{ senders: { SMS: '' } }, 'settings.senders.SMS: must not be empty'],
    [{ unknown: 1 }, 'settings: must NOT have additional properties'],
  ])('with %j is refused with a message that begins with the setting', async (settings, words) => {
    const { status, body } = await owner.ask('POST', '/verification/verifiers', form('Login', settings))
    expect([status, body.error.msg]).toEqual([400, words])
  })

  test('can choose the names of the company, each with its usability', async () => {
    await anApprovedSender(api.sql, companyId, { senderName: 'READY' })
    await aSender(api.sql, companyId, { senderName: 'WAITING' })
    const { names, registered } = (await owner.ask('GET', '/verification/offer')).body as OfferAnswer
    expect(registered).toEqual(['SMS', 'WHATSAPP', 'VIBER'])
    expect(names.map(({ senderName, isUsable }) => [senderName, isUsable]).sort()).toEqual([
      ['READY', true],
      ['WAITING', false],
    ])
  })
})

describe('a widget', () => {
  const captcha = { ...page, captcha: 'turnstile', captchaSiteKey: 'site key' }

  test('keeps the secret of its captcha until it gets another secret or another captcha, and never shows it', async () => {
    const id = await aWidget({ page: captcha, captchaSecret: 'first secret' })
    const stored = async () => {
      const { captchaSecret } = await requireAnyVerifier(api.sql, 'WIDGET', id)
      return captchaSecret && openCaptchaSecret(secret, captchaSecret)
    }
    const save = async (given: object) => {
      const { version } = await whole(`widgets/${id}`)
      return owner.ask('PUT', `/verification/widgets/${id}`, { ...form('Shop'), page: captcha, version, ...given })
    }
    const shown = await whole(`widgets/${id}`)
    expect([shown.hasCaptchaSecret, JSON.stringify(shown).includes('first secret')]).toEqual([true, false])
    expect((await save({ name: 'Other' })).status).toBe(200)
    expect(await stored()).toBe('first secret')
    await save({ captchaSecret: 'second secret' })
    expect(await stored()).toBe('second secret')
    expect((await save({ page: { ...captcha, captcha: 'hcaptcha' } })).body.error.msg).toBe(
      'captcha-secret is needed for hcaptcha',
    )
    expect((await save({ page })).status).toBe(200)
    expect(await stored()).toBeNull()
  })

  test('accepts an origin copied from the address bar, and returns the lines of HTML with its id', async () => {
    const id = await aWidget({ page: { ...page, origins: ['https://shop.example/', 'https://shop.example:443'] } })
    const { page: stored, snippets } = await whole(`widgets/${id}`)
    expect(stored!.origins).toEqual(['https://shop.example'])
    for (const snippet of [snippets!.page, snippets!.builder]) {
      expect(snippet).toContain(`widgetId: '${id}'`)
      expect(snippet).toContain('src="http://localhost:8080/widget/VerifyWidget.umd.min.js"')
    }
    expect([snippets!.page.includes('/send-code'), snippets!.builder.includes('/send-code')]).toEqual([true, false])
  })

  test('gives its look to the pages that show it', async () => {
    const look = { accent: '#2b6d4f', accentDark: null, radiusPixels: 4, theme: 'dark' }
    const widgetId = await aWidget({ page: { ...page, look } })
    const headers = { origin: 'https://shop.example' }
    const opened = await api.app.inject({ method: 'POST', url: '/widget/api/open', headers, payload: { widgetId } })
    expect(opened.json().look).toEqual(look)
    const wrong = { ...form('Shop'), page: { ...page, look: { ...look, accent: 'url(x)' } } }
    const refused = await owner.ask('POST', '/verification/widgets', wrong)
    expect(refused.body.error.msg).toBe('accent must be a colour such as #2b6d4f, not "url(x)"')
  })

  test('shows the errors of its pages with their reasons', async () => {
    const id = await aWidget()
    const headers = { origin: 'https://thief.example' }
    await api.app.inject({ method: 'POST', url: '/widget/api/open', headers, payload: { widgetId: id } })
    const { body } = await owner.ask('GET', `/verification/widgets/${id}/errors`)
    expect(body.errors).toMatchObject([{ code: 310, origin: 'https://thief.example' }])
    const { widgets } = (await owner.ask('GET', '/verification')).body as VerificationAnswer
    expect(widgets.find(widget => widget.id === id)!.errors).toEqual({ count: 1, code: 310 })
  })
})

describe('the statistics', () => {
  let first: string
  let second: string
  const counted = (sql: Pool, company: number, verifierId: string, rows: [string, string, string, string, number][]) =>
    sql`insert into verification_counters (company_id, verifier_id, day, channel_type, country, what, count, cost, total_ms)
      select ${company}, ${verifierId}, day::date, channel, country, what, count,
        case what when 'sent' then count * 2 else 0 end, case what when 'confirmed' then count * 4000 else 0 end
      from unnest(${rows.map(row => row[0])}::text[], ${rows.map(row => row[1])}::text[], ${rows.map(row => row[2])}::text[],
        ${rows.map(row => row[3])}::text[], ${rows.map(row => row[4])}::int[]) q (day, channel, country, what, count)`

  beforeAll(async () => {
    first = await aVerifier(api.sql, companyId)
    second = await aVerifier(api.sql, companyId)
    await counted(api.sql, companyId, first, [
      ['2026-05-01', 'SMS', 'RU', 'sent', 10],
      ['2026-05-01', 'SMS', 'RU', 'delivered', 9],
      ['2026-05-01', 'SMS', 'RU', 'confirmed', 8],
      ['2026-05-03', 'VOICECODE', 'KZ', 'sent', 2],
      ['2026-04-30', 'SMS', 'RU', 'sent', 5],
    ])
    await counted(api.sql, companyId, second, [['2026-05-02', 'SMS', 'RU', 'sent', 4]])
    await counted(api.sql, foreignId, await aVerifier(api.sql, foreignId), [['2026-05-02', 'SMS', 'RU', 'sent', 99]])
  })

  const find = async (browser: CabinetBrowser, query = '') =>
    (await browser.ask('GET', `/verification?from=2026-05-01&to=2026-05-03${query}`)).body as VerificationAnswer

  test('sum a period by day, country and channel, beside the previous period', async () => {
    const answer = await find(owner)
    const total = {
      sent: 16,
      delivered: 9,
      confirmed: 8,
      secondsToConfirm: 4,
      cost: '32.0000',
      costOfConfirmed: '4.0000',
    }
    expect(answer).toMatchObject({ currency: 'RUB', total, before: { sent: 5, costOfConfirmed: null } })
    expect(answer.byDay.map(({ day, sent }) => [day, sent])).toEqual([
      ['2026-05-01', 10],
      ['2026-05-02', 4],
      ['2026-05-03', 2],
    ])
    expect(answer.byCountry.map(({ country, sent }) => [country, sent])).toEqual([
      ['RU', 14],
      ['KZ', 2],
    ])
    expect(answer.byChannel.map(({ channelType, confirmed }) => [channelType, confirmed])).toEqual([
      ['SMS', 8],
      ['VOICECODE', 0],
    ])
    expect(answer.verifiers.find(({ id }) => id === second)!.sums.sent).toBe(4)
  })

  test('are of one verifier if it is chosen, while the list shows all verifiers', async () => {
    const answer = await find(owner, `&verifier=${first}`)
    expect([answer.total.sent, answer.byDay[1]!.sent]).toEqual([12, 0])
    expect(answer.verifiers.find(({ id }) => id === second)!.sums.sent).toBe(4)
  })

  test('hide amounts from people who may neither see money nor send', async () => {
    const { total, byDay } = await find(await signedIn(ofCompany(companyId), 'viewer'))
    expect([total.sent, total.cost, total.costOfConfirmed, byDay[0]!.cost]).toEqual([16, null, null, null])
  })

  test.each(['from=2026-02-30', 'from=2026-05-02&to=2026-05-01', 'from=2020-01-01', 'from=yesterday', 'verifier='])(
    'refuse %s',
    async query => expect((await owner.ask('GET', `/verification?${query}`)).status).toBe(400),
  )

  test.each(planModes)('of a period read only that period, with years of counters (%s)', async mode => {
    await api.sql`
      insert into verification_counters (company_id, verifier_id, day, channel_type, country, what, count)
      select ${companyId}, 'v' || v, date '2020-01-01' + d, 'SMS', 'RU', 'sent', 1
      from generate_series(1, 10) v, generate_series(1, 2000) d on conflict do nothing`
    await api.sql`analyze verification_counters`
    const period = { from: '2026-05-01', to: '2026-05-03' }
    const reads = await readsOf(api, mode, sql => verificationSums(sql, companyId, period), /grouping sets/)
    expect(reads).toEqual([{ table: 'verification_counters', index: 'verification_counters_by_day', rows: 5 }])
    await api.sql`delete from verification_counters where verifier_id ~ '^v\\d+$'`
  })
})

describe('blocks', () => {
  const block = (company: number, subject: string, minutes: number) => api.sql`
    insert into verification_limits (company_id, subject, since, count, last_at, blocked_until, blocks, reason)
    values (${company}, ${subject}, now(), 300, now(), now() + make_interval(mins => ${minutes}), 1, '300 codes within an hour')`

  test('are listed with their reason and end, found by a part, and removed', async () => {
    await block(companyId, 'prefix:7916055', 60)
    await block(companyId, 'number:79160550001', 30)
    await block(companyId, 'prefix:7999000', -1) // is over
    await block(foreignId, 'prefix:7916055', 60)
    const list = async (search = '') =>
      ((await owner.ask('GET', `/verification/blocked?search=${search}`)).body as BlockedAnswer).blocked
    expect(await list()).toMatchObject([
      { kind: 'prefix', value: '7916055', reason: '300 codes within an hour', times: 1 },
      { kind: 'number', value: '79160550001' },
    ])
    expect((await list('%2B7 916 055 00')).map(({ kind }) => kind)).toEqual(['number'])
    const unblock = () => owner.ask('POST', '/verification/unblock', { subject: 'prefix:7916055' })
    expect([(await unblock()).status, (await unblock()).status]).toEqual([204, 404])
    expect((await list()).map(({ kind }) => kind)).toEqual(['number'])
    const theirs = await api.sql`select from verification_limits where company_id = ${foreignId}`
    expect(theirs).toHaveLength(1)
  })
})

describe('trying a verifier', () => {
  test('sends a code to the own phone and checks the typed code', async () => {
    const id = await aVerifier(api.sql, companyId)
    const number = { channelType: 'SMS', destination: '+7 916 777-00-01' }
    const sent = await owner.ask('POST', `/verification/verifiers/${id}/try`, number)
    expect([sent.status, sent.body.codeLength]).toEqual([200, 6])
    const { uuid } = sent.body
    const hash = new CodeBox(secret).hash(uuid, '111111')
    await api.sql`
      update verifications set code_hashes = array[decode(${hash}, 'hex')] where verification_uuid = ${uuid}`
    const check = async (code: string) =>
      (await owner.ask('POST', `/verification/verifiers/${id}/try/check`, { uuid, code })).body
    expect(await check('222222')).toEqual({ status: 'WRONG_CODE', triesLeft: 2 })
    expect(await check('111 111')).toMatchObject({ status: 'CONFIRMED' })
    await owner.ask('POST', `/verification/verifiers/${id}/try`, number)
    const again = await owner.ask('POST', `/verification/verifiers/${id}/try`, number)
    expect([again.status, Number(again.headers['retry-after']) > 0]).toEqual([429, true])
    const fixed = await owner.ask('POST', `/verification/verifiers/${id}/try`, {
      ...number,
      destination: '74951234567',
    })
    expect(fixed.body.error.msg).toBe('destination: is no valid number')
  })
})
