import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../src/base/uuid7.ts'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { defaultCenter } from '../../src/domain/traffic-centers/traffic-centers.ts'
import { aPerson, ofCompany } from '../../src/testing/cabinet.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatchWithFates, aSingleMessage } from '../../src/testing/traffic.ts'
import { aDispatch, aWorld, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'

/** Searching for a message and reading its history. */

const cabinet = useCabinet()
const { newPage } = useBrowser()
const NASTY = '<img src=x onerror="document.title=1">'
let world: World
let sent: Awaited<ReturnType<typeof aDispatchWithFates>>

beforeAll(async () => {
  const numbering = await loadNumbering(cabinet.sql)
  world = await aWorld(cabinet.sql)
  sent = await aDispatchWithFates(cabinet.sql, numbering, world)
  await aSingleMessage(cabinet.sql, numbering, world, { text: `Order 10517 ${NASTY}`, externalId: 'order-10517' })
  const { centerId } = await defaultCenter(cabinet.sql, world.companyId)
  await cabinet.sql`
    insert into inbound_messages (company_id, message_uuid, channel_type, sender_name, destination, text, center_id, received_at)
    values (${world.companyId}, ${uuid7Batch(new Date(), 1)[0]!}, 'SMS', 'Shop', '79262001014', 'When do you open?',
      ${centerId}, now())`
})

async function signedIn(role: string, path: string, width = 1400) {
  const { login } = await aPerson(cabinet.sql, ofCompany(world.companyId), role)
  const page = await newPage({ viewport: { width, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  await page.getByRole('row').nth(1).waitFor()
  return { page, faults }
}

const numbersIn = async (page: Page) => (await page.getByRole('row').getByRole('link').allTextContents()).map(plain)
const plain = (number: string) => number.replaceAll('\u00a0', ' ').replaceAll('\u2011', '-')
const pathOf = (page: Page) => new URL(page.url()).pathname

describe.skipIf(!hasBrowser)('messages', () => {
  test('a person opens the history of a failed message, sends its callback again, and sends the message again', async () => {
    const { page, faults } = await signedIn('owner', `messages?dispatch=${sent.dispatchId}`)
    await eventually(async () => expect((await numbersIn(page)).length).toBe(4))
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByRole('menuitem', { name: 'Undelivered' }).click()
    await page.keyboard.press('Escape')
    await eventually(async () => expect(await numbersIn(page)).toEqual(['+7 926 200-10-14']))
    expect(new URL(page.url()).searchParams.get('status')).toBe('undelivered')

    await page.getByRole('row').getByRole('link').click()
    const panel = page.getByRole('complementary', { name: 'Open message' })
    await panel.getByText('stat:UNDELIV err:027').waitFor()
    expect(new URL(page.url()).searchParams.get('open')).toBe(sent.undelivered)
    await panel.getByRole('link', { name: 'Whole life' }).click()

    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(pathOf(page)).toBe(`/cabinet/messages/${sent.undelivered}`)
    const life = page.getByRole('region', { name: 'Life of the message' })
    for (const line of [
      /^Accepted/,
      /^Priced/,
      /^Money held/,
      /^Sent through MegaFon direct/,
      /^Not delivered/,
      /^Callback received by hooks\.romashka\.example/,
    ])
      await life.getByRole('heading', { name: line }).first().waitFor()
    await life.getByText('Phone switched off or out of reach.').waitFor()
    await life.getByText(/part 2 id 7F3A1-2/).waitFor()
    await life.getByText('stat:UNDELIV err:027').waitFor()
    await life.getByText('503').first().waitFor()

    await life.getByRole('button', { name: 'Replay' }).first().click()
    await page.getByText('The callback is sent again.').waitFor()
    await life.getByRole('heading', { name: /^Callback waits for/ }).waitFor()

    await page.getByRole('link', { name: 'Send again' }).click()
    const text = page.getByRole('textbox', { name: 'Text' })
    await text.waitFor()
    expect(await page.getByRole('textbox', { name: 'Number' }).inputValue()).toBe('+79262001014')
    expect(await page.getByLabel('Sender name').inputValue()).toBe('ROMASHKA')
    expect(await text.inputValue()).toMatch(/^Autumn bouquets are 20% off/)
    await text.fill('Asters are 30% off')
    await page.reload()
    expect(await text.inputValue()).toBe('Asters are 30% off')
    faults.expectNone()
  })

  test('the search takes a part of the number, words or a day, and shows how it read them', async () => {
    const { page, faults } = await signedIn('viewer', 'messages')
    const box = page.getByRole('searchbox', { name: 'Number, id or text' })
    await box.fill('200-10-14')
    await eventually(async () => expect(await numbersIn(page)).toEqual(['+7 926 200-10-14']))
    await page.getByText(/1 found\. Messages accepted/).waitFor()
    await box.fill('8 926 200 10 14')
    await page.getByText('1 found. All messages to this number').waitFor()
    await page.getByRole('button', { name: 'Time At any time' }).waitFor()
    await box.fill('order-10517')
    await page.getByText('1 found. Found by the id').waitFor()
    await page.getByText(NASTY).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ])
    const lines = (await readFile((await file.path())!, 'utf8')).trimEnd().split('\r\n')
    expect([lines.length, lines[1]!.includes('order-10517')]).toEqual([2, true])
    await box.fill('12.11.2020')
    await page.getByText('No message found').waitFor()
    expect(await box.inputValue()).toBe('')
    await page.getByRole('button', { name: 'Remove the filter Time' }).click()
    await eventually(async () => expect((await numbersIn(page)).length).toBe(5))
    expect(await page.title()).toBe('Messages · Tidings')
    const tabs = page.getByRole('navigation', { name: 'Saved searches' })
    for (const name of ['All 5', 'Failed 1', 'Waiting 2']) await tabs.getByRole('link', { name, exact: true }).waitFor()

    await page.route('**/messages/incoming*', route => route.fulfill({ json: { companies: null } }), { times: 1 })
    await box.fill('00-10-14')
    await page.getByRole('link', { name: 'Search the incoming messages too' }).waitFor()
    await box.fill('926 200-10-14')
    await page.getByRole('link', { name: 'Incoming: 1' }).click()
    await page.getByText('When do you open?').waitFor()
    expect([pathOf(page), new URL(page.url()).searchParams.get('q')]).toEqual(['/cabinet/inbound', '926 200-10-14'])
    faults.expectNone()
  })

  test('J and K move through the list, Esc closes the panel, Enter opens the page, Back returns to the list', async () => {
    const { page } = await signedIn('viewer', 'messages')
    const panel = page.getByRole('complementary', { name: 'Open message' })
    const title = panel.getByRole('heading', { level: 2 })
    const numbers = await numbersIn(page)
    const isOpen = (place: number) =>
      eventually(async () => expect(plain((await title.textContent())!)).toBe(numbers[place]))
    await page.keyboard.press('j')
    await isOpen(0)
    await page.keyboard.press('j')
    await isOpen(1)
    await page.keyboard.press('k')
    await isOpen(0)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('row').nth(1).getByRole('link').click()
    await isOpen(0)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Life of the message' }).waitFor()
    expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0)
    await page.goBack()
    await isOpen(0)
  })

  test('a search is saved as a tab, stays after a reload, and is removed', async () => {
    const { page } = await signedIn('sender', 'messages?operator=MEGAFON')
    await page.getByRole('button', { name: 'Save this search' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('MegaFon')
    await page.keyboard.press('Enter')
    const tabs = page.getByRole('navigation', { name: 'Saved searches' })
    await tabs.getByRole('link', { name: 'All' }).click()
    await eventually(async () => expect((await numbersIn(page)).length).toBe(5))
    await page.reload()
    await tabs.getByRole('link', { name: 'MegaFon' }).click()
    await eventually(async () => expect(await numbersIn(page)).toEqual(['+7 926 200-10-14']))
    await tabs.getByRole('button', { name: 'Remove the saved search MegaFon' }).click()
    await tabs.getByRole('link', { name: 'MegaFon' }).waitFor({ state: 'detached' })
  })

  test('on a phone a row opens the page of the message', async () => {
    const { page } = await signedIn('viewer', 'messages', 390)
    await page.getByRole('row').getByRole('link', { name: /926/ }).click()
    await page.getByRole('region', { name: 'Life of the message' }).waitFor()
    expect(pathOf(page)).toBe(`/cabinet/messages/${sent.undelivered}`)
  })

  test('on a phone Back returns to the same place of a long list', async () => {
    const recipients = Array.from({ length: 40 }, (_, i) => ({ destination: String(79_160_003_000 + i) }))
    const dispatchId = await aDispatch(cabinet.sql, await loadNumbering(cabinet.sql), world, recipients)
    const { page } = await signedIn('viewer', `messages?dispatch=${dispatchId}`, 390)
    const link = page.getByRole('link', { name: /000.30.05/ })
    await link.scrollIntoViewIfNeeded()
    const place = await page.evaluate('scrollY')
    expect(place).toBeGreaterThan(1000)
    await link.click()
    await page.getByRole('region', { name: 'Life of the message' }).waitFor()
    await page.goBack()
    await eventually(async () => expect(await page.evaluate('scrollY')).toBe(place))
  })
})
