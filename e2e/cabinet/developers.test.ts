import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuid7 } from '../../src/base/uuid7.ts'
import { enqueueCallbacks } from '../../src/domain/callbacks/callbacks.ts'
import { callbackKey } from '../../src/domain/callbacks/secrets.ts'
import { createKey } from '../../src/domain/keys/keys.ts'
import { CallbackSender } from '../../src/engine/callbacks/sender.ts'
import { aPerson, ofCompany, ofPartner } from '../../src/testing/cabinet.ts'
import { aCompany } from '../../src/testing/factories.ts'
import { aWorld, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, lookAt } from './looks.ts'

/** The pages for developers: keys, callbacks and the request log. */

const cabinet = useCabinet()
const browser = useBrowser()
const NASTY = '<img src=x onerror="document.title=1">'
const run = promisify(execFile)
const clock = () => new Date()
let world: World
let server: Server
let hook: string
let answer = { status: 500, body: NASTY }
let sender: CallbackSender

beforeAll(async () => {
  world = await aWorld(cabinet.sql)
  server = createServer((_, response) => response.writeHead(answer.status).end(answer.body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tidings`
  const key = callbackKey('a secret of the tests, 32 or longer')
  const settings = { allow: ['127.0.0.0/8'] }
  sender = new CallbackSender({ sql: cabinet.sql, clock, log: pino({ level: 'silent' }), settings, key })
})

afterAll(async () => {
  await sender?.stop()
  server?.close()
})

async function signedIn(companyId: number, path: string) {
  const { login } = await aPerson(cabinet.sql, ofCompany(companyId), 'owner')
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults, login }
}

async function aCallback(companyId: number, url = hook) {
  const event = { event: 'delivered' as const, messageUuid: uuid7(clock()), destination: '79160000001', at: clock() }
  await cabinet.sql.begin(tx => enqueueCallbacks(tx, companyId, [{ url, event }], clock()))
}

describe.skipIf(!hasBrowser)('developers', () => {
  test('an owner creates a key, runs the command that the page shows, and finds the request and the message', async () => {
    const { page, faults } = await signedIn(world.companyId, 'developers')
    await page.getByText('No keys yet').waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name, for instance of the program').fill(NASTY)
    await form.getByLabel('Addresses and networks, one a line').fill('127.0.0.1\n10.0.0.0/33')
    await form.getByRole('button', { name: 'Make the key' }).click()
    await form.getByText('“10.0.0.0/33” is not an address or a network').waitFor()
    await form.getByLabel('Addresses and networks, one a line').fill('127.0.0.0/8\n::1')
    await form.getByRole('button', { name: 'Make the key' }).click()

    const shown = page.getByRole('dialog', { name: 'Your new key' })
    const line = shown.getByRole('region', { name: 'Try it in a terminal' })
    const ran = async () => JSON.parse((await run('bash', ['-c', `${await line.textContent()} --silent`])).stdout)
    expect(await ran()).toHaveProperty('RUB')
    await shown.getByLabel('Your own number, to send yourself a message').fill('+7 916 000-00-01')
    await shown.getByText('This line sends a message to the number.').waitFor()
    const sent = await ran()
    await shown.getByRole('button', { name: 'Done' }).click()

    await page.getByText(NASTY).waitFor()
    await page.getByRole('link', { name: 'Request log' }).click()
    const row = page.getByRole('row', { name: /POST \/api\/v1\/message/ })
    await row.waitFor()
    expect(await row.textContent()).toContain(NASTY)
    await page.getByLabel('Method').selectOption('GET')
    await row.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /GET \/api\/v1\/balance/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('method')).toBe('GET')

    const [stored] = await cabinet.sql`select message_uuid as uuid from messages where company_id = ${world.companyId}`
    expect(JSON.stringify(sent)).toContain(stored!.uuid)
    await openPage(page, cabinet, `messages/${stored!.uuid}`)
    await page.getByText('Hello from Tidings').first().waitFor()
    expect(await page.title()).not.toBe('1')
    faults.expectNone()
  })

  test('a callback that is answered with 500 is shown with its attempt, sent again and received', async () => {
    answer = { status: 500, body: NASTY }
    await aCallback(world.companyId)
    const { page, faults } = await signedIn(world.companyId, 'developers/callbacks')
    await page
      .getByRole('row', { name: /\/tidings.*500/ })
      .getByRole('button')
      .click()
    const panel = page.getByRole('complementary', { name: 'The callback that is open' })
    await panel.getByRole('region', { name: 'Answer' }).getByText(NASTY).waitFor()
    await panel.getByText('"event": "delivered"').waitFor()

    answer = { status: 200, body: 'thanks' }
    await panel.getByRole('button', { name: 'Send again' }).click()
    await panel.getByText('thanks').waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('Received')
    await page.getByRole('row', { name: /200/ }).waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('Given up')
    await page.getByText('No callback fits').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('textbox', { name: 'Message id' }).fill('no id')
    await page.getByText('Check the id of the message').waitFor()

    await page.getByRole('button', { name: 'Send a test' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send a test callback' })
    expect(await dialog.getByLabel('Address').inputValue()).toBe(hook)
    await dialog.getByRole('button', { name: 'Send a test' }).click()
    await dialog.getByText(/Received: 200 after/).waitFor()
    answer = { status: 302, body: '' }
    await dialog.getByRole('button', { name: 'Send a test' }).click()
    await dialog.getByText('Redirects are not followed').waitFor()
    await dialog.getByLabel('Address').fill('http://10.0.0.1/')
    await dialog.getByRole('button', { name: 'Send a test' }).click()
    await dialog.getByText('Not received: the address is in a network that is not public').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: /^(Make|Replace)/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /secret/ })
      .click()
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/)
    faults.expectNone()
  })

  test('a change of a key that another person changed meanwhile is refused with a message', async () => {
    const companyId = await aCompany(cabinet.sql, world.partner)
    await cabinet.sql.begin(tx => createKey(tx, companyId, 'ENTITY', { name: 'crm' }))
    const { page } = await signedIn(companyId, 'developers')
    await menuOf(page, 'Change name and addresses')
    await cabinet.sql`update api_keys set addresses = '{192.0.2.1}' where company_id = ${companyId}`
    const form = page.getByRole('dialog', { name: 'Change crm' })
    await form.getByLabel('Addresses and networks, one a line').fill('192.0.2.2')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Another person changed this meanwhile.').waitFor()
    await page.keyboard.press('Escape')
    await menuOf(page, 'Deactivate')
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByText('The key crm was deactivated.').waitFor()
    await page.getByRole('row', { name: /crm.*Deactivated/ }).waitFor()
  })

  const menuOf = async (page: Page, item: string) => {
    await page.getByRole('button', { name: 'Actions for crm' }).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
})

describe.skipIf(!hasBrowser)('the looks', () => {
  let login: string
  let full: number
  let callbackId: number

  beforeAll(async () => {
    full = await aCompany(cabinet.sql, world.partner)
    await cabinet.sql.begin(async tx => {
      await createKey(tx, full, 'MESSAGE', {
        name: 'shop-backend',
        addresses: ['203.0.113.0/28', '2001:db8::/32', '::1'],
      })
      await createKey(tx, full, 'BUILDER_WIDGET', { name: NASTY.repeat(2) })
    })
    answer = { status: 503, body: '{"error":"upstream connect error or disconnect before headers"}' }
    await aCallback(full)
    const [row] = await cabinet.sql<{ id: number }[]>`
      select max(callback_id) as id from callbacks where company_id = ${full}`
    callbackId = row!.id
    await cabinet.sql`insert into receivers (company_id, receiver, failures, probe_at, served_at)
      values (${full}, 'https://hooks.romashka.example', 20, now() + interval '4 minutes', now())`
    await aCallback(full, 'https://hooks.romashka.example/orders')
    await cabinet.sql.begin(async sql => {
      await sql`select ensure_request_hour(now())`
      await sql`
        insert into requests (owner_kind, owner_id, at, key_id, method, route, status, took_ms, address, request_id)
        select 'COMPANY', ${full}, greatest(now() - make_interval(secs => n), date_trunc('hour', now())), 1, 'POST',
          '/api/v1/message', case when n % 5 = 0 then 401 when n % 7 = 0 then 500 else 200 end, n * 37, '203.0.113.9',
          gen_random_uuid()
        from generate_series(1, 12) n`
    })
    login = (await aPerson(cabinet.sql, ofPartner(world.partner.partnerId), 'owner')).login
  })

  const button = (page: Page, name: RegExp) => page.getByRole('button', { name })

  test.each(extremes)('$width px, $locale, $colorScheme', async screen => {
    await lookAt(browser, cabinet, screen, login, [
      {
        path: `developers?company=${full}`,
        ready: page => page.getByText('shop-backend').waitFor(),
        after: async page => {
          await expectGoodDialog(page, 'new key', () => button(page, /^(New key|Новый ключ)$/).click())
          await button(page, /shop-backend/).click()
          await expectGoodDialog(page, 'reissue', () =>
            page.getByRole('menuitem', { name: /^(Reissue|Перевыпустить)$/ }).click(),
          )
        },
      },
      {
        path: `developers/callbacks?company=${full}&open=${callbackId}`,
        ready: page => page.getByText('upstream connect error').first().waitFor(),
        after: async page => {
          await page
            .getByRole('row', { name: /example\/orders/ })
            .getByRole('button')
            .click()
          await page.getByText(/The receiver is paused\. This|Сервер приостановлен: колбэк/).waitFor()
          await expectGoodDialog(page, 'test', () => button(page, /^(Send a test|Отправить пробный)$/).click())
        },
      },
      { path: `developers/requests?company=${full}`, ready: page => page.getByRole('table').waitFor() },
      {
        path: `developers/requests?company=${full}&status=5xx&method=DELETE`,
        ready: page => page.getByText(/No request fits|Таких запросов нет/).waitFor(),
      },
      { path: 'developers/callbacks', ready: page => page.getByText(/Choose a company|Выберите компанию/).waitFor() },
    ])
  })
})
