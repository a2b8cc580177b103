import { beforeAll, describe, expect, test } from 'vitest'
import { aPerson, staff } from '../../src/testing/cabinet.ts'
import { aGateway } from '../../src/testing/engines.ts'
import { hasBrowser, useBrowser } from '../browser.ts'
import { enter, useCabinet, watchFaults } from './cabinet.ts'
import { expectGood } from './looks.ts'

const cabinet = useCabinet()
const browser = useBrowser()
let login: string

beforeAll(async () => {
  login = (await aPerson(cabinet.sql, staff, 'admin')).login
  for (const name of ['first', 'second', 'third']) await aGateway(cabinet.sql, { name })
})

describe.skipIf(!hasBrowser)('tables', () => {
  test('a column that was hidden by keyboard stays hidden after a reload; heads sort by keyboard, and Back undoes it', async () => {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
    const faults = watchFaults(page)
    await enter(page, cabinet, login, 'gateways')
    const heads = () => page.getByRole('columnheader').allTextContents()
    const names = () => page.getByRole('row').getByRole('link').allTextContents()
    const choice = page.getByRole('button', { name: 'Columns' })
    const waiting = page.getByRole('menuitemcheckbox', { name: 'Waiting' })
    await choice.waitFor()
    const { width, height } = (await choice.boundingBox())!
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
    await choice.focus()
    await page.keyboard.press('Enter')
    await waiting.press('Space')
    await page.getByRole('menuitemcheckbox', { name: 'Waiting', checked: false }).waitFor()
    await expectGood(page, 'columns')
    await page.keyboard.press('Escape')
    await page.reload()
    await choice.waitFor()
    expect(await heads()).not.toContain('Waiting')

    await page.getByRole('button', { name: 'Gateway', exact: true }).press('Enter')
    await page.getByRole('columnheader', { name: 'Gateway' }).and(page.locator('[aria-sort=ascending]')).waitFor()
    await page.getByRole('button', { name: 'Gateway', exact: true }).press('Enter')
    await page.locator('[aria-sort=descending]').waitFor()
    expect(page.url()).toMatch(/sort=gateways\.-name$/)
    expect(await names()).toEqual(['third', 'second', 'first'])
    await page.goBack()
    await page.locator('[aria-sort=ascending]').waitFor()
    expect(await names()).toEqual(['first', 'second', 'third'])

    await page.goForward()
    await page.locator('[aria-sort=descending]').waitFor()

    const store = (text: string) =>
      page.evaluate(
        `for (const key of Object.keys(localStorage)) if (/columns/.test(key)) localStorage[key] = ${JSON.stringify(text)}`,
      )
    expect(await choice.getAttribute('data-hides')).toBe('true')
    await store('["name","a column of an older version"]')
    await page.reload()
    await choice.waitFor()
    expect(await choice.getAttribute('data-hides')).toBeNull()

    await store('{')
    await page.setViewportSize({ width: 390, height: 800 })
    await page.reload()
    await page.locator('[data-label=Waiting]').first().waitFor()
    expect(await choice.count()).toBe(0)
    expect(page.url()).toMatch(/sort=gateways\.-name$/)
    expect(await names()).toEqual(['first', 'second', 'third']) // the order of the server
    faults.expectNone()
  })
})
