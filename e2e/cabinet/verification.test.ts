import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { changeVerifier, createVerifier, requireAnyVerifier } from '../../src/domain/verifiers/verifiers.ts'
import { aPerson, ofCompany } from '../../src/testing/cabinet.ts'
import { aMessagingSide, type MessagingSide } from '../../src/testing/conformance/messaging-world.ts'
import { useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { codeGateways, codeIn, handedText, secret } from '../../src/testing/verification.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { bodyOf, useServer } from '../pages.ts'
import { enter, openPage, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const { anEngine } = useEngines(cabinet)
const NASTY = '<img src=x onerror=alert(1)>'
let side: MessagingSide
let verifierId: string
let widgetId: string

/** A shop whose page contains the HTML that the test pastes. Its server requests the code with a key of the company. */
const shop = { html: '' }
const server = useServer(async (request, response) => {
  if (request.method === 'POST') {
    const { key } = JSON.parse(await bodyOf(request))
    const sent = await fetch(`${cabinet.origin}/api/v1/verifier/widget/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${side.keys.VERIFIER}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    })
    response.writeHead(sent.status).end()
  } else
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<html lang="en">${shop.html}</html>`)
})
const shopUrl = () => `http://localhost:${server.port()}`

beforeAll(async () => {
  side = await aMessagingSide(cabinet.sql)
  const make = (kind: 'API' | 'WIDGET', options: Parameters<typeof createVerifier>[3]) =>
    cabinet.sql.begin(tx => createVerifier(tx, side.companyId, kind, options))
  verifierId = await make('API', {
    name: NASTY,
    settings: { channels: ['SMS', 'VOICECODE'], fallbackSeconds: 30, countries: ['RU'], webOtpHost: 'shop.example' },
  })
  widgetId = await make('WIDGET', { name: 'Checkout', page: { origins: ['https://shop.example'] } })
  await cabinet.sql`
    insert into verification_counters (company_id, verifier_id, day, channel_type, country, what, count, cost, total_ms)
    select ${side.companyId}, ${verifierId}, (now() at time zone 'UTC')::date - 2, channel, country, what, n, n, n * 9000
    from (values ('SMS', 'RU', 'sent', 120), ('SMS', 'RU', 'delivered', 118), ('SMS', 'RU', 'confirmed', 103),
      ('VOICECODE', 'KZ', 'sent', 8), ('VOICECODE', 'KZ', 'delivered', 6)) q (channel, country, what, n)`
  await cabinet.sql`
    insert into verification_limits (company_id, subject, since, count, last_at, blocked_until, blocks, reason)
    select ${side.companyId}, subject, now(), 300, now(), now() + interval '1 hour', 1, reason
    from (values ('prefix:7916055', '2 of 40 codes confirmed'), ('address:203.0.113.7', '30 codes within an hour'))
      q (subject, reason)`
})

async function signedIn(path: string, role = 'owner') {
  const { login } = await aPerson(cabinet.sql, ofCompany(side.companyId), role)
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

/** Runs in the page. The tests do not have the types of the page. */
type Styled = { ownerDocument: { defaultView: { getComputedStyle(element: unknown): { backgroundColor: string } } } }
const backgroundOf = (element: Styled): string =>
  element.ownerDocument.defaultView.getComputedStyle(element).backgroundColor
const preview = (page: Page, theme = 'Light theme') => page.getByRole('region', { name: theme })
const colourOf = (page: Page, button: string) =>
  preview(page)
    .getByRole('button', { name: button })
    .evaluate(backgroundOf as (element: unknown) => string)
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

describe.skipIf(!hasBrowser)('verification in the cabinet', () => {
  test('an owner creates a widget, sees each setting in the preview, pastes it into a shop, and a visitor confirms a number there', async () => {
    await codeGateways(cabinet.sql, ['SMS'])
    await anEngine({ secret })
    const { page, faults } = await signedIn('verification')
    await page.getByRole('link', { name: 'New widget' }).click()
    await preview(page).getByRole('button', { name: 'Send the code' }).waitFor()
    await page.getByRole('textbox', { name: 'Colour of the button', exact: true }).fill('#2b6d4f')
    await eventually(async () => expect(await colourOf(page, 'Send the code')).toBe('rgb(43, 109, 79)'))
    await page.getByRole('button', { name: 'Voice code' }).click()
    await preview(page).getByRole('button', { name: 'Another way' }).waitFor()
    await page.getByRole('button', { name: 'Move Voice code up' }).click()
    await preview(page, 'Dark theme').getByRole('button', { name: 'Call me' }).waitFor()
    await page.getByRole('button', { name: 'Move SMS up' }).click()
    await page.getByRole('textbox', { name: 'Digits' }).fill('5')
    await preview(page).getByRole('button', { name: 'Send the code' }).click()
    await preview(page).getByRole('textbox', { name: 'Code, 5 digits' }).fill('12345')
    await preview(page).getByText('Number confirmed').waitFor()
    expect(await cabinet.sql`select from verifications where company_id = ${side.companyId}`).toHaveLength(0)

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Gift cards')
    await page.getByRole('button', { name: 'Make the widget' }).click()
    await page.getByText('Name at least one site, such as https://shop.example.').waitFor()
    await page.getByRole('textbox', { name: 'Sites that may show the widget' }).fill(`${shopUrl()}/`)
    await page.getByRole('button', { name: 'Make the widget' }).click()
    await page.getByRole('heading', { name: 'Gift cards' }).waitFor()
    shop.html = await page.getByRole('region', { name: 'Code for the site' }).locator('pre').innerText()

    const visitor = await browser.newPage()
    await visitor.goto(shopUrl())
    const send = visitor.getByRole('button', { name: 'Send the code' })
    await send.waitFor()
    await eventually(async () =>
      expect(await send.evaluate(backgroundOf as (element: unknown) => string)).toBe('rgb(43, 109, 79)'),
    )
    await send.click()
    const code = visitor.getByRole('textbox', { name: 'Code, 5 digits' })
    await code.waitFor()
    await code.fill(codeIn(await handedText(cabinet.sql, '79160000001')))
    await visitor.getByText('Number confirmed').waitFor()

    await page.getByRole('link', { name: 'All verifiers and widgets' }).click()
    await page
      .getByRole('combobox', { name: 'Verifier or widget' })
      .selectOption({ label: await optionOf(page, 'Gift') })
    const confirmed = page.locator('dl').first()
    await eventually(async () => expect(await confirmed.textContent()).toMatch(/Confirmed100\s%1 number/))
    expect(page.url()).toMatch(/verifier=\w{12}/)
    faults.expectNone()
  })

  test('a text is counted and shown in the form of the SMS, and a refusal is shown at its field', async () => {
    const { page, faults } = await signedIn(`verification/verifiers/${verifierId}`)
    await page.getByRole('heading', { name: NASTY }).waitFor()
    const text = page.getByRole('textbox', { name: 'Text: English' })
    await text.fill('{code} is your code')
    const sms = page.getByTestId('sms')
    expect(await sms.innerText()).toBe('473859 is your code\n\n@shop.example #473859')
    await page.getByText('1 part, 42 of 160 characters with the lines for phones').waitFor()
    await text.fill('Hello')
    await page.getByText('Not saved: texts').waitFor()
    await save(page)
    await page.getByText('The text must contain {code} once.').waitFor()
    expect(await text.getAttribute('aria-invalid')).toBe('true')
    await text.fill('{code} is your code')
    await save(page)
    await page.getByText('Saved. It applies to the next code.').waitFor()
    const { settings } = await requireAnyVerifier(cabinet.sql, 'API', verifierId)
    expect(settings.texts.en).toBe('{code} is your code')
    faults.expectNone()
  })

  test('a change that would overwrite a newer change is refused, and the newer values are shown', async () => {
    const { page } = await signedIn(`verification/widgets/${widgetId}`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine')
    const widget = await requireAnyVerifier(cabinet.sql, 'WIDGET', widgetId)
    await changeVerifier(cabinet.sql, widget, { settings: { tries: 7 } })
    await save(page)
    await page.getByText('Another person changed this since you opened it').waitFor()
    await page.getByRole('button', { name: 'Show the newer settings' }).click()
    await eventually(async () => expect(await page.getByRole('textbox', { name: 'Tries' }).inputValue()).toBe('7'))
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Checkout')
  })

  test('an owner unblocks a prefix after a confirmation, and deletes a widget after a warning', async () => {
    const { page, faults } = await signedIn('verification')
    const row = page.getByRole('row').filter({ hasText: '+7 916 055' })
    expect(await row.textContent()).toContain('2 of 40 codes were confirmed')
    await row.getByRole('button', { name: 'Unblock' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click()
    await row.waitFor({ state: 'detached' })
    const doomed = await cabinet.sql.begin(tx =>
      createVerifier(tx, side.companyId, 'WIDGET', { name: NASTY, page: { origins: ['https://old.example'] } }),
    )
    await openPage(page, cabinet, `verification/widgets/${doomed}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Pages that still show it get error 310: https://old.example.').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Verification', exact: true }).waitFor()
    await expect(requireAnyVerifier(cabinet.sql, 'WIDGET', doomed)).rejects.toThrow('Widget not found')
    faults.expectNone()
  })

  test('an owner tests a verifier with the own number', async () => {
    await codeGateways(cabinet.sql, ['VOICECODE'])
    await anEngine({ secret })
    const { page } = await signedIn(`verification/verifiers/${verifierId}`)
    await page.getByRole('button', { name: 'Try it' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Your number' }).fill('+7 916 333-00-01')
    await dialog.getByRole('combobox', { name: 'Way' }).selectOption('VOICECODE')
    await dialog.getByRole('button', { name: 'Send the code' }).click()
    const code = dialog.getByRole('textbox', { name: 'Code from your phone' })
    await code.fill('1')
    await dialog.getByRole('button', { name: 'Check the code' }).click()
    await dialog.getByText('The code is wrong. 2 tries left.').waitFor()
    await code.fill(codeIn(await handedText(cabinet.sql, '79163330001', 'VOICECODE')))
    await dialog.getByRole('button', { name: 'Check the code' }).click()
    await dialog.getByText('The number is confirmed').waitFor()
  })

  test.each(extremes)('looks good at $width px, $locale, $colorScheme', async screen => {
    const { login } = await aPerson(cabinet.sql, ofCompany(side.companyId), 'owner')
    const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).first().click()
    await lookAt(browser, cabinet, screen, login, [
      {
        path: 'verification',
        ready: async page => {
          await page.getByText('203.0.113.7').waitFor()
          await expectGoodDialog(page, 'unblock', () => press(page, /^(Unblock|Разблокировать)$/))
        },
      },
      {
        path: `verification/widgets/${widgetId}`,
        ready: async page => {
          await page
            .getByText(/^(Send the code|Получить код)$/)
            .first()
            .waitFor()
          await expectGoodDialog(page, 'delete', () => press(page, /^(Delete|Удалить)$/))
        },
      },
      {
        path: `verification/verifiers/${verifierId}`,
        ready: async page => {
          await page.getByTestId('sms').waitFor()
          await expectGoodDialog(page, 'try', () => press(page, /^(Try it|Проверить на себе)$/))
        },
      },
    ])
  })
})

const optionOf = async (page: Page, text: string) =>
  (await page.getByRole('option').filter({ hasText: text }).first().textContent())!
