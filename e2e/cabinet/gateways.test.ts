import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { aPerson, staff } from '../../src/testing/cabinet.ts'
import { aGateway, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, openPage, SECRET, useCabinet, watchFaults } from './cabinet.ts'
import { expectGoodDialog, extremes, lookAt } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
const engines = useEngines(cabinet)
const NASTY = '<img src=x onerror=alert(1)>'
let login: string
let world: World

beforeAll(async () => {
  login = (await aPerson(cabinet.sql, staff, 'admin')).login
  world = await aWorld(cabinet.sql)
})

async function aMessage() {
  const numbering = await loadNumbering(cabinet.sql)
  const dispatchId = await aDispatch(cabinet.sql, numbering, world, someRecipients(4))
  await start(cabinet.sql, world, dispatchId)
}

async function signedIn(path: string) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, path)
  return { page, faults }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const confirm = async (page: Page, name: string) => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
const chooseMore = async (page: Page, name: string) => {
  await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name }).click()
}
const delivered = async () => (await cabinet.sql`select from messages where status = 'DELIVERED'`).length

describe.skipIf(!hasBrowser)('gateways and health', () => {
  test('an operator adds a gateway, tests it, pauses it while messages wait, resumes, drains and removes it; a killed engine is shown as gone', async () => {
    const engine = await engines.anEngineProcess(cabinet.url, SECRET)
    const { page, faults } = await signedIn('gateways')
    await page.getByRole('heading', { name: 'No gateway yet' }).waitFor()
    await page.getByRole('link', { name: 'Add gateway' }).click()
    await page.getByRole('combobox', { name: 'Connector' }).selectOption('Simulated operator')
    await press(page, 'Add gateway')
    await page.getByText('Fill this in.').waitFor()
    await page.keyboard.type(NASTY) // the wrong field has the focus
    await page.getByLabel('Share refused, 0 to 1').fill('2')
    await press(page, 'Add gateway')
    await page.getByText('From 0 to 1.').waitFor()
    await page.getByLabel('Share refused, 0 to 1').fill('0')
    await press(page, 'Add gateway')
    await page.getByRole('heading', { name: NASTY, level: 1 }).waitFor()
    await page.getByText('Up', { exact: true }).waitFor()

    await press(page, 'Test')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Number').fill('79160000003')
    await dialog.getByLabel('Sender name').fill('Shop')
    await dialog.getByRole('button', { name: 'Test', exact: true }).click()
    await dialog.getByText('The operator accepted the message').waitFor()
    await dialog.getByText('Not delivered').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    await press(page, 'Pause')
    await confirm(page, 'Pause')
    await aMessage()
    await page.getByText(/4 messages wait, because no other gateway for them works/).waitFor()
    expect(await delivered()).toBe(0)
    await press(page, 'Resume')
    await confirm(page, 'Resume')
    await eventually(async () => expect(await delivered()).toBe(4))

    await page.reload()
    await chooseMore(page, 'Drain')
    await confirm(page, 'Drain')
    await page.getByText('Drained: the operator has reported everything.').waitFor()
    await chooseMore(page, 'Remove')
    await confirm(page, 'Remove').catch(() => {})
    await page.getByRole('heading', { name: 'No gateway yet' }).waitFor()

    await openPage(page, cabinet, 'health')
    const row = page.getByRole('row').filter({ hasText: String(engine.pid) })
    await row.getByText('Running').waitFor()
    engine.kill('SIGKILL')
    await row.getByText('Gone').waitFor({ timeout: 120_000 })
    expect(await row.getByRole('cell').last().textContent()).toMatch(/\d\d:\d\d$/) // not “now”
    await page.getByText('Nothing is sent: start an engine').waitFor()
    faults.expectNone()
  })

  test('two people who change the same gateway: the newer change is not overwritten', async () => {
    const { gatewayId } = await aGateway(cabinet.sql, { name: 'shared' })
    const { page, faults } = await signedIn(`gateways/${gatewayId}/settings`)
    await page.getByLabel('Limit, parts a second').fill('50')
    await cabinet.sql`update gateways set parts_per_second = 10, version = version + 1 where gateway_id = ${gatewayId}`
    await press(page, 'Save')
    await page.getByText(/Another person changed this meanwhile/).waitFor()
    const limit = page.getByLabel('Limit, parts a second')
    await eventually(async () => {
      await page.reload() // the server reads gateways once a second
      expect(await limit.inputValue()).toBe('10')
    })
    await limit.fill('50')
    await press(page, 'Save')
    await page.getByText('of 50').first().waitFor()
    faults.expectNone()
  })

  test.each(extremes)('look good at $width px, $locale, $colorScheme', async screen => {
    const { gatewayId } = await aGateway(cabinet.sql, { name: NASTY, partsPerSecond: 100 })
    await aGateway(cabinet.sql, { name: 'MTS direct', brands: [1, 2] })
    await cabinet.sql`
      insert into late_receipts (company_id, message_uuid, status, received_at, operator_error, gateway_id)
      values (1, gen_random_uuid(), 'FAILED', now(), ${NASTY}, ${gatewayId})`
    const paths = { one: `gateways/${gatewayId}`, form: `gateways/${gatewayId}/settings` }
    const cancel = (page: Page) => page.getByRole('button', { name: /^(Cancel|Отмена)$/ }).waitFor()
    await lookAt(browser, cabinet, screen, login, [
      { path: 'gateways', ready: page => page.getByRole('link', { name: 'MTS direct' }).waitFor() },
      {
        path: paths.one,
        ready: page => page.getByText(NASTY).nth(1).waitFor(),
        after: async page => {
          const open = (name: RegExp) => page.getByRole('button', { name }).first().click()
          await expectGoodDialog(page, 'test', () => open(/^(Test|Проверить)$/))
          await expectGoodDialog(page, 'pause', () => open(/^(Pause|Пауза)$/))
        },
      },
      { path: paths.form, ready: cancel },
      { path: 'gateways/new?connector=smpp', ready: cancel },
      { path: 'health', ready: page => page.getByText('PostgreSQL').waitFor() },
    ])
  })
})
