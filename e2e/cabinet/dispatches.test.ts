import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Recipient } from '../../src/domain/dispatches/dispatch.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { deactivatePerson, requirePerson } from '../../src/domain/people/people.ts'
import { followLink, saveLinks } from '../../src/domain/short-links/short-links.ts'
import { aPerson, ofCompany } from '../../src/testing/cabinet.ts'
import { aGateway, useEngines } from '../../src/testing/engines.ts'
import { aDispatch, aWorld, someRecipients, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, typeCredentials, useCabinet, watchFaults } from './cabinet.ts'

/** The list of dispatches and the live page of one. */

const cabinet = useCabinet()
const { newPage } = useBrowser()
const { anEngine } = useEngines(cabinet)
let world: World

beforeAll(async () => {
  world = await aWorld(cabinet.sql)
})

async function signedIn(role: string, path: string) {
  const { login, personId } = await aPerson(cabinet.sql, ofCompany(world.companyId), role)
  const page = await newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, personId, faults }
}

const made = async (recipients: Recipient[], text = 'Hello') =>
  aDispatch(cabinet.sql, await loadNumbering(cabinet.sql), world, recipients, { text })

/** A completed dispatch whose messages failed. */
async function madeAndFailed(...given: Parameters<typeof made>) {
  const dispatchId = await made(...given)
  await cabinet.sql`update messages set status = 'FAILED' where dispatch_id = ${dispatchId}`
  await cabinet.sql`
    update dispatch_blocks set created_messages = 0, failed_messages = created_messages + failed_messages
    where dispatch_id = ${dispatchId}`
  await cabinet.sql`update dispatches set status = 'COMPLETED' where dispatch_id = ${dispatchId}`
  return dispatchId
}

/** Clicks a button of the page, and the same button of the dialog that asks for confirmation. */
async function confirm(page: Page, verb: string) {
  await page.getByRole('main').getByRole('button', { name: verb }).click()
  await page.getByRole('dialog').getByRole('button', { name: verb }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** The id of the dispatch that the button leads to. */
async function sentAgain(page: Page): Promise<number> {
  const before = page.url()
  await page.getByRole('main').getByRole('button', { name: 'Send again' }).click()
  await page.getByText('2 failed messages are sent again in a new dispatch.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Create the dispatch' }).click()
  await page.waitForURL(url => url.href !== before)
  return Number(new URL(page.url()).pathname.split('/').at(-1))
}

const textsOf = async (dispatchId: number) =>
  (
    await cabinet.sql`select destination, text from messages where dispatch_id = ${dispatchId} order by dispatch_position`
  ).map(({ destination, text }) => [destination, text])

/** A recipient of the dispatch follows the link in the message twice. */
async function clickTwice(dispatchId: number) {
  const [message] =
    await cabinet.sql`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} limit 1`
  const links = [{ code: 'sale123456', messageUuid: message!.uuid, url: 'https://shop.example/sale' }]
  await cabinet.sql.begin(tx => saveLinks(tx, world.companyId, links, new Date()))
  for (const now of [new Date(), new Date()]) await followLink(cabinet.sql, 'sale123456', { base: cabinet.origin, now })
}

async function download(page: Page, item: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Report' }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: item }).click()])
  return readFile(await file.path())
}

describe.skipIf(!hasBrowser)('a person who sends', () => {
  test('starts a dispatch, sees it run, stops it, starts it again, downloads the report, and sends failed messages again', async () => {
    const names = ['Анна', '<img src=x onerror=alert(1)>']
    const notReached = ['79160000003', '79260000004'].map((destination, i) => ({
      destination,
      substitutions: { name: names[i]! },
    }))
    // Three minutes' worth of messages: a busy browser needs long until the dispatch is stopped.
    const others = someRecipients(598).map(each => ({ ...each, substitutions: { name: 'Ольга' } }))
    const dispatchId = await made([...others, ...notReached], 'Здравствуйте, {name}')
    await aGateway(cabinet.sql, { partsPerSecond: 3 })
    const { page, faults } = await signedIn('sender', 'dispatches')
    await page.getByRole('row').filter({ hasText: '600 recipients' }).getByRole('link', { name: 'Test' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await confirm(page, 'Start')
    await page.getByText('No sending process of the service is running').waitFor()

    await anEngine()
    await page
      .getByText(/a second$/)
      .first()
      .waitFor()
    await page.getByText(/^ends about/).waitFor()
    await page.getByRole('img', { name: 'Messages a second since the first message' }).waitFor()
    await confirm(page, 'Stop')
    await page.getByText('until you start it again').waitFor()

    await cabinet.sql`update gateways set parts_per_second = null`
    await confirm(page, 'Start')
    await page.getByText('Completed').first().waitFor()
    await page.getByText('of 600 handed to operators').waitFor()
    await page.getByRole('cell', { name: '600', exact: true }).first().waitFor()

    const csv = (await download(page, 'As CSV')).toString()
    expect(csv.trimEnd().split('\r\n')).toHaveLength(601)
    expect(csv).toContain(`Sent (${await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone')})`)
    expect((await download(page, 'As XLSX')).subarray(0, 2).toString()).toBe('PK')
    expect(page.url()).toContain(`/dispatches/${dispatchId}`)

    const again = await sentAgain(page)
    expect(await textsOf(again)).toEqual(notReached.map((each, i) => [each.destination, `Здравствуйте, ${names[i]}`]))
    await page.getByText('of 2 handed to operators').waitFor()
    await page.getByRole('heading', { level: 1, name: /, again$/ }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: /, again$/ }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Open the new dispatch' }).click()
    await page.waitForURL(new RegExp(`/dispatches/${again}$`))
    await confirm(page, 'Start')
    await page.getByText('Completed').first().waitFor()
    faults.expectNone()
  })

  test('sees before sending again which failed messages are left out and why, and that a cascade is not sent again', async () => {
    const people = ['79160000003', '79260000004'].map(destination => ({ destination, substitutions: { name: 'Анна' } }))
    const recipients = [...people, people[0]!, { destination: 'no number' }]
    const dispatchId = await madeAndFailed(recipients, 'Hello, {name}')
    const { page, faults } = await signedIn('sender', `dispatches/${dispatchId}`)
    const button = page.getByRole('main').getByRole('button', { name: 'Send again' })
    await button.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 failed messages are sent again in a new dispatch.').waitFor()
    await dialog.getByText('2 failed messages are not sent again:').waitFor()
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      '1: another failed message has the same number and text, and is sent again',
      '1: rejected before its text was filled in, and the values for the placeholders are not stored',
    ])
    const removed = await madeAndFailed(recipients, 'Hello, {name}')
    await cabinet.sql`update messages set text = '[removed]' where dispatch_id = ${removed} and text is not null`
    await openPage(page, cabinet, `dispatches/${removed}`)
    await button.click()
    await dialog.getByText('None of the failed messages can be sent again.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Create the dispatch' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    const step = {
      channelType: 'SMS',
      senderName: 'ROMASHKA',
      text: 'Hello',
      content: null,
      condition: null,
      ttl: null,
    }
    await cabinet.sql`update dispatches set cascade = ${cabinet.sql.json([step])} where dispatch_id = ${removed}`
    await page.reload()
    await page.getByText('A cascade cannot be sent again.', { exact: false }).waitFor()
    expect(await button.isDisabled()).toBe(true)
    faults.expectNone()
  })

  test('sends failed messages again although they were too many to count and a proxy ended the request', async () => {
    const dispatchId = await madeAndFailed(someRecipients(2))
    const { page, faults } = await signedIn('sender', `dispatches/${dispatchId}`)
    const counted = { counts: null, currency: 'RUB', most: 1_000_000 }
    const asked: string[] = []
    await page.route(`**/api/dispatches/${dispatchId}/again*`, async route => {
      asked.push(route.request().method())
      if (route.request().method() === 'GET') return route.fulfill({ json: counted })
      await route.fetch()
      return route.fulfill({ status: 504, body: '<html>' })
    })
    await page.getByRole('main').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('too many messages to count').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Create the dispatch' }).click()
    await page.getByText('The new dispatch is ready').waitFor()
    await page.getByRole('heading', { level: 1, name: /, again$/ }).waitFor()
    expect(asked).toEqual(['GET', 'POST'])
    faults.expectNone()
  })

  test('stays on the page that was opened while the new dispatch was made', async () => {
    const dispatchId = await madeAndFailed(someRecipients(2))
    const { page, faults } = await signedIn('sender', 'dispatches')
    await page.locator(`a[href$="/dispatches/${dispatchId}"]`).first().click()
    const gone = Promise.withResolvers<void>()
    await page.route(`**/api/dispatches/${dispatchId}/again?*`, async route => {
      await gone.promise
      await route.continue()
    })
    await page.getByRole('main').getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create the dispatch' }).click()
    await page.getByText('This may take a minute.').waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    gone.resolve()
    await page.getByText('The new dispatch is ready').waitFor()
    await page
      .getByRole('link', { name: /, again$/ })
      .first()
      .waitFor()
    expect(new URL(page.url()).pathname).toMatch(/\/dispatches$/)
    faults.expectNone()
  })

  test('finds a dispatch by status and name, which stay in the address', async () => {
    const dispatchId = await made(someRecipients(3))
    await cabinet.sql`update dispatches set name = '<img src=x onerror=alert(1)>' where dispatch_id = ${dispatchId}`
    await clickTwice(dispatchId)
    const { page, faults } = await signedIn('viewer', 'dispatches')
    await page.getByRole('link', { name: 'Created' }).click()
    await page.getByRole('searchbox', { name: 'Name or id' }).fill('ONERROR')
    await page.waitForURL(/status=CREATED.*search=ONERROR/)
    await page.reload()
    await page.getByRole('link', { name: '<img src=x onerror=alert(1)>' }).click()
    await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor()
    expect(await page.getByRole('button', { name: 'Start' }).count()).toBe(0)
    await page.getByRole('link', { name: '2 clicks by 1 person' }).click()
    await page.getByText(`Only dispatch ${dispatchId}`).waitFor()
    await page.getByRole('link', { name: 'shop.example/sale' }).waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByRole('searchbox').fill('no such name')
    await page.getByText('No dispatch found').waitFor()
    await page.getByRole('link', { name: 'Show all dispatches' }).click()
    await page.getByRole('row').nth(1).waitFor()
    faults.expectNone()
  })

  test('is led from a live page to the sign-in page when deactivated', async () => {
    const { page, personId } = await signedIn('viewer', `dispatches/${await made(someRecipients(2))}`)
    await page.getByText('live', { exact: true }).waitFor()
    await cabinet.sql.begin(async tx =>
      deactivatePerson(tx, await requirePerson(tx, ofCompany(world.companyId), personId)),
    )
    await page.getByText('Your session has ended').waitFor()
  })
})

describe.skipIf(!hasBrowser)('a person with a telephone', () => {
  test('signs in, sends a dispatch to pasted numbers, sees it delivered, and reads the history of a message, in Russian', async () => {
    await aGateway(cabinet.sql, { settings: { ownIds: true } })
    await anEngine()
    const { login } = await aPerson(cabinet.sql, ofCompany(world.companyId), 'owner')
    const page = await newPage({ viewport: { width: 390, height: 844 }, locale: 'ru-RU', colorScheme: 'dark' })
    const faults = watchFaults(page)
    await openPage(page, cabinet)
    await typeCredentials(page, login)
    await page.getByRole('navigation').getByRole('link', { name: 'Рассылки' }).click()
    await page.getByRole('link', { name: 'Новая рассылка' }).click()

    await page.getByRole('textbox', { name: 'Название рассылки' }).fill('Осень')
    await page.getByRole('combobox', { name: 'Имя отправителя' }).selectOption('ROMASHKA')
    await page.getByRole('textbox', { name: 'Текст сообщения' }).fill('Букеты на 20% дешевле до воскресенья')
    const next = () => page.getByRole('button', { name: /^Далее/ }).click()
    await next()
    await page.getByRole('textbox', { name: 'Номера, по одному в строке' }).fill('+7 916 123-45-77\n8 903 123 45 77')
    await page.getByRole('button', { name: 'Взять эти номера' }).click()
    await page.getByRole('listitem').filter({ hasText: /^2/ }).waitFor()
    await next()
    await page.getByRole('radio', { name: /^Не более/ }).waitFor()
    await next()
    await page.getByRole('button', { name: /^Отправить 2 сообщения за/ }).click()
    await page.getByText('2 сообщения отправляются').waitFor()
    await page.getByRole('link', { name: 'Следить за ней' }).click()

    await page.getByRole('heading', { level: 1, name: 'Осень' }).waitFor()
    await page.getByText('Завершена').first().waitFor()
    await page.getByText('100,0 % от завершённых').waitFor()
    await page.getByRole('link', { name: 'Все сообщения' }).click()
    await page.getByRole('link', { name: /903.123.45.77/ }).click()
    const life = page.getByRole('region', { name: 'История сообщения' })
    for (const line of [/^Принято/, /^Деньги зарезервированы/, /^Отправлено через sim/, /^Доставлено/])
      await life.getByRole('heading', { name: line }).waitFor()
    await page.getByText('Букеты на 20% дешевле до воскресенья').waitFor()
    faults.expectNone()
  })
})
