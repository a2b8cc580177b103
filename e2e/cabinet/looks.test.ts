import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Demo, makeDemo } from '../../src/commands/service/demo.ts'
import type { Transaction } from '../../src/db/sql.ts'
import { recordChange } from '../../src/domain/audit-log/audit-log.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { partnerWithLogin } from '../../src/domain/partners/partners.ts'
import { invitePerson } from '../../src/domain/people/people.ts'
import type { Place } from '../../src/domain/people/person.ts'
import { codeAt } from '../../src/domain/people/totp.ts'
import { sendersByIds } from '../../src/domain/senders/senders.ts'
import { aPerson, ofCompany, PASSWORD } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import type { TestPartner } from '../../src/testing/factories.ts'
import { aDispatchWithFates, aSingleMessage } from '../../src/testing/traffic.ts'
import { aDispatch, aWorld, someRecipients } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, typeCredentials, useCabinet, watchFaults } from './cabinet.ts'
import { expectGood, expectGoodDialog, expectTappable, extremes, lookAt, type Screen, screens } from './looks.ts'
import { someTraffic } from './overview-traffic.ts'

/** Every page of the cabinet at both widths, in both languages and both themes. */

const cabinet = useCabinet({ demo: true })
const browser = useBrowser()
const { newPage } = browser
const pageOf = ({ width, locale, colorScheme }: Screen) =>
  newPage({ viewport: { width, height: 844 }, locale, colorScheme })
const DEMO_PASSWORD = 'a password of the demo'
let place: Place
let dispatchId: number
let message: string

beforeAll(async () => {
  const demo = await makeDemo(cabinet.sql, DEMO_PASSWORD, new Date())
  place = ofCompany(demo.companyId!)
  dispatchId = await aDispatchOfDemo(demo)
  message = await aSingleMessage(cabinet.sql, await loadNumbering(cabinet.sql), { companyId: demo.companyId! })
  const long = { login: `${'long.'.repeat(12)}name@romashka.example`, role: 'viewer', name: 'Anna-Maria '.repeat(9) }
  await cabinet.sql.begin(sql => invitePerson(sql, place, long, new Date()))
  await someTraffic(cabinet.sql, demo.companyId!)
})

async function aDispatchOfDemo({ companyId, senderIds }: Demo): Promise<number> {
  const partner = (await partnerWithLogin(cabinet.sql, 'demo'))!
  const senders = await sendersByIds(cabinet.sql, companyId!, senderIds)
  const world = { partner: partner as TestPartner, companyId: companyId!, senders }
  const recipients = [...someRecipients(8), { destination: 'no number' }]
  return aDispatch(cabinet.sql, await loadNumbering(cabinet.sql), world, recipients)
}

describe.skipIf(!hasBrowser)('without serious findings of axe, and nowhere wider than the screen', () => {
  test.each(screens)('at $width pixels, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await pageOf(screen)
    const faults = watchFaults(page)
    await openPage(page, cabinet)
    await page.getByText(/This is a demo|Это демо/).waitFor()
    await expectGood(page, 'sign-in')
    await typeCredentials(page, login, 'wrong')
    await page.getByRole('alert').waitFor()
    await expectGood(page, 'sign-in refused')
    await typeCredentials(page, login)

    await page.getByRole('img', { name: /24 hours|24 часа/ }).waitFor()
    await expectGood(page, 'overview')

    await openPage(page, cabinet, 'people')
    await page.getByRole('row').nth(1).waitFor()
    await expectGood(page, 'people')
    const main = page.getByRole('main')
    await expectGoodDialog(page, 'invite', () => main.getByRole('button', { name: /^(Invite|Пригласить)$/ }).click())
    for (const [name, item] of [
      ['role', 0],
      ['link', 1],
      ['deactivate', 2],
    ] as const)
      await expectGoodDialog(page, name, async () => {
        await main.getByRole('button', { name: /Anna-Maria/ }).click()
        await expectTappable(page, 'menu of a person')
        await page.getByRole('menuitem').nth(item).click()
      })

    await openPage(page, cabinet, 'dispatches')
    await main.getByRole('link', { name: 'Test' }).waitFor()
    await expectGood(page, 'dispatches')
    await openPage(page, cabinet, `dispatches/${dispatchId}`)
    await page.getByText(/The number is not valid|Неверный номер/).waitFor()
    await expectGood(page, 'dispatch')
    await expectGoodDialog(page, 'start', () => main.getByRole('button', { name: /^(Start|Начать)$/ }).click())
    await openPage(page, cabinet, `messages?open=${message}`)
    await page.getByRole('row').nth(1).waitFor()
    await expectGood(page, 'messages')
    await openPage(page, cabinet, `messages/${message}`)
    await page.getByRole('region').first().waitFor()
    await expectGood(page, 'message')

    await openPage(page, cabinet, 'account')
    const sections = page.getByRole('region')
    await sections
      .nth(4)
      .getByText(/This one|Этот сеанс/)
      .waitFor()
    await expectGood(page, 'account')
    await expectGoodDialog(page, 'second step', () => sections.nth(3).getByRole('button').click())

    await sections.nth(3).getByRole('button').click()
    const secret = (await page.getByText(/^([A-Z2-7]{4} ?){8}$/).textContent())!.replaceAll(' ', '')
    await page.getByRole('dialog').getByRole('textbox').first().fill(codeAt(secret, new Date()))
    await page.getByRole('dialog').locator('input[type=password]').fill(PASSWORD)
    await expectGoodDialog(page, 'recovery codes', async () => {
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByRole('listitem').first().waitFor()
    })
    await page.getByText(/10 recovery codes left|Осталось 10 резервных кодов/).waitFor()
    await expectGood(page, 'account with a second step')

    await openPage(page, cabinet, 'no/such/page')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectGood(page, 'no such page')
    await openPage(page, cabinet, 'dispatches/999999')
    const gone = /^(There is nothing at this address|По этому адресу ничего не найдено)/
    await page.getByRole('heading', { level: 1, name: gone }).waitFor()
    expect(await page.title()).toMatch(gone)
    await openPage(page, cabinet, 'accept-invitation#wrong')
    await page.getByRole('link', { name: /Go to sign-in|Ко входу/ }).waitFor()
    await expectGood(page, 'invitation that is gone')
    faults.expectNone()
  })
})

const NASTY = '<img src=x onerror=alert(1)>'

/** A world whose pages have much to show: a finished dispatch, messages with callbacks, and changes of all kinds. */
async function aBusyWorld() {
  const { sql } = cabinet
  const numbering = await loadNumbering(sql)
  const world = await aWorld(sql, { budget: '100000.00' })
  const fates = await aDispatchWithFates(sql, numbering, world)
  const finished = await aDispatch(sql, numbering, world, [...someRecipients(240), { destination: 'no number' }], {
    text: 'Autumn bouquets are 20% off until Sunday. Stop: 9000',
  })
  await finish(finished)
  await sql.begin(tx => recordChanges(tx, world.companyId, finished))
  return { world, fates, finished }
}

/** Gives every message a result: sent within the last half hour, some failed for several reasons. */
async function finish(dispatchId: number) {
  const { sql } = cabinet
  await sql`
    update messages set sent_at = now() - (1800 - dispatch_position * 7) * interval '1 second',
      final_at = now() - (1780 - dispatch_position * 7) * interval '1 second',
      status = case when dispatch_position % 6 = 0 then 'FAILED' else 'DELIVERED' end::message_status,
      error_code = case when dispatch_position % 6 = 0 then (array[603, 602, 7060, 453])[1 + dispatch_position / 6 % 4] end,
      final_price = case when dispatch_position % 6 = 0 then 0 else price end
    where dispatch_id = ${dispatchId} and status = 'CREATED'`
  await sql`
    update dispatch_blocks b set created_messages = 0, delivered_messages = m.delivered, failed_messages = m.failed
    from (select count(*) filter (where status = 'DELIVERED') as delivered, count(*) filter (where status = 'FAILED') as failed
      from messages where dispatch_id = ${dispatchId}) m
    where b.dispatch_id = ${dispatchId}`
  await sql`
    update dispatches set status = 'COMPLETED', started_at = now() - interval '31 minutes', completed_at = now(), name = ${`Sale ${NASTY}`}
    where dispatch_id = ${dispatchId}`
}

async function recordChanges(tx: Transaction, companyId: number, dispatchId: number) {
  const operator = { kind: 'OPERATOR', name: 'root' } as const
  const dispatch = { kind: 'dispatch', id: dispatchId, name: `Sale ${NASTY}` }
  for (const [what, subject, values] of [
    [
      'sender.approved',
      { kind: 'sender', id: 1, name: NASTY },
      { before: { status: 'PRE_REVIEW' }, after: { status: 'APPROVED', brand: 'MTS' } },
    ],
    [
      'dispatch.created',
      dispatch,
      { after: { channelType: 'SMS', senderName: 'ROMASHKA', text: 'Autumn bouquets. '.repeat(14) } },
    ],
    ['dispatch.changed', dispatch, { before: { recipients: 0 }, after: { recipients: 241 } }],
    ['dispatch.started', dispatch, { after: { recipients: 241, price: '843.5000' } }],
  ] as const)
    await recordChange(tx, operator, { what, companyId, subject, ...values })
}

describe.skipIf(!hasBrowser)('pages of finished work', () => {
  let busy: Awaited<ReturnType<typeof aBusyWorld>>
  beforeAll(async () => {
    busy = await aBusyWorld()
  })

  test.each(extremes)('at $width pixels, $locale, $colorScheme', async screen => {
    const { world, fates, finished } = busy
    const { login } = await aPerson(cabinet.sql, ofCompany(world.companyId), 'owner')
    const life = (message: string, words: RegExp) => ({
      path: `messages/${message}`,
      ready: (page: Page) => page.getByRole('heading', { name: words }).first().waitFor(),
    })
    await lookAt(browser, cabinet, screen, login, [
      {
        path: `dispatches/${finished}`,
        ready: async page => {
          await page.getByRole('img', { name: /since the first message|с начала отправки/ }).waitFor()
          await page.getByText(/^(Phone switched off|Телефон выключен)/).waitFor()
          const again = page.getByRole('main').getByRole('button', { name: /^(Send again|Отправить ещё раз)$/ })
          await expectGoodDialog(page, 'send again', async () => {
            await again.click()
            await page.getByText(/^(41 failed messages are|Новая рассылка: 41)/).waitFor()
          })
        },
      },
      life(fates.delivered, /^(Callback received by|Колбэк получен)/),
      life(fates.undelivered, /^(Callback received by|Колбэк получен)/),
      {
        path: 'audit',
        ready: async page => {
          await page
            .getByRole('button', { name: /^(Details|Подробности)/ })
            .nth(2)
            .click()
        },
      },
    ])
  })
})

/** The requests of the page to its API, without the stream of live figures, which never ends. */
function watchQuestions(page: Page) {
  let asked: string[] = []
  let open = 0
  const isQuestion = (request: Request) => /\/cabinet\/api\/(?!live)/.test(request.url())
  const close = (request: Request) => {
    if (isQuestion(request)) open--
  }
  page.on('request', request => {
    if (!isQuestion(request)) return
    open++
    asked.push(request.url())
  })
  page.on('requestfinished', close)
  page.on('requestfailed', close)
  return {
    begin: () => {
      asked = []
      return asked
    },
    answered: () => eventually(() => expect(open).toBe(0)),
  }
}

describe.skipIf(!hasBrowser)('the shell', () => {
  test('has its navigation at the side of a wide screen, and as a bar at the bottom of a narrow one', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await pageOf(screens[0])
    await enter(page, cabinet, login)
    const links = page.getByRole('navigation').getByRole('link', { name: 'Dispatches', exact: true })
    await links.first().waitFor()
    const boxOf = async () => (await links.boundingBox())!
    expect((await boxOf()).x).toBeLessThan(50)
    await page.setViewportSize({ width: 390, height: 844 })
    await eventually(async () => expect((await boxOf()).y).toBeGreaterThan(760))
    for (const control of await page.getByRole('navigation').getByRole('link').all())
      expect((await control.boundingBox())!.height).toBeGreaterThanOrEqual(40)
  })

  test('opens its pages one after the other, and each requests its data once', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    const questions = watchQuestions(page)
    await enter(page, cabinet, login, 'account')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const links = await page.getByRole('navigation').getByRole('link').all()
    expect(links.length).toBeGreaterThan(12)
    for (const link of links) {
      const asked = questions.begin()
      await link.click()
      const path = await link.getAttribute('href')
      await eventually(() => expect(page.url()).toContain(path))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await questions.answered()
      expect(asked, page.url()).toEqual([...new Set(asked)])
    }
  })

  test('shows a page before its late data arrive', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await newPage()
    const late = Promise.withResolvers<void>()
    await page.route('**/cabinet/api/people', async route => {
      await late.promise
      await route.continue()
    })
    await enter(page, cabinet, login, 'people')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    expect(await page.getByRole('row').count()).toBe(0)
    late.resolve()
    await page.getByRole('row').nth(1).waitFor()
  })

  test('reloads itself if a new version has replaced the script of a page', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    await enter(page, cabinet, login, 'account')
    await page.getByRole('heading', { level: 1 }).waitFor()
    const documents: string[] = []
    page.on('request', request => request.isNavigationRequest() && documents.push(request.url()))
    let missing = 0
    await page.route('**/assets/people-page-*.js', route => {
      if (documents.length > 0) return route.continue()
      missing++
      return route.fulfill({ status: 404 })
    })
    await page.getByRole('navigation').getByRole('link', { name: 'People' }).click()
    await page.getByRole('row').nth(1).waitFor()
    expect(documents).toEqual([page.url()])
    expect(missing).toBeGreaterThan(0)
  })

  test('says when the connection is lost, and when it is back', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await newPage()
    await enter(page, cabinet, login, 'people')
    await page.getByRole('row').nth(1).waitFor()
    await page.context().setOffline(true)
    await page.getByText(/^No connection\./).waitFor()
    await page.context().setOffline(false)
    await page.getByText(/^No connection\./).waitFor({ state: 'detached' })
  })

  test('shows the id of a failed request, and retries it', async () => {
    const { login } = await aPerson(cabinet.sql, place, 'owner')
    const page = await newPage()
    await page.route('**/cabinet/api/people', route =>
      route.fulfill({
        status: 400,
        headers: { 'x-request-id': 'a-request-of-the-test' },
        json: { error: { code: 4000, msg: 'The moon is full' } },
      }),
    )
    await enter(page, cabinet, login, 'people')
    await page.getByText('The moon is full').waitFor()
    await page.getByText(/Request a-request-of-the-test, \d\d:\d\d:\d\d/).waitFor()
    await page.unroute('**/cabinet/api/people')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('row').nth(1).waitFor()
  })
})

describe.skipIf(!hasBrowser)('the demo', () => {
  test.each([
    ['A company', 'Owner, company'],
    ['A partner', 'Owner, partner'],
    ['Staff', 'Admin, staff'],
  ])('offers %s, with the password that was printed', async (who, role) => {
    const page = await newPage({ viewport: { width: 1400, height: 900 } })
    await openPage(page, cabinet)
    await page.getByRole('button', { name: who }).click()
    await page.keyboard.type(DEMO_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByText(role).waitFor()
  })
})
