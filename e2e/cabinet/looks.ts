import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import type { useBrowser } from '../browser.ts'
import { type Cabinet, enter, openPage, seriousFindings, watchFaults } from './cabinet.ts'

/** The screens on which every page is checked: both widths, languages and themes, and a width between. */
export const screens = [
  { width: 1400, locale: 'en-GB', colorScheme: 'light' },
  { width: 1400, locale: 'ru-RU', colorScheme: 'dark' },
  { width: 900, locale: 'ru-RU', colorScheme: 'light' },
  { width: 390, locale: 'ru-RU', colorScheme: 'light' },
  { width: 390, locale: 'en-GB', colorScheme: 'dark' },
] as const

export type Screen = (typeof screens)[number] | (typeof extremes)[number]

/** Two screens that together have both widths, languages and themes, for pages with their own tests. */
export const extremes = [
  { width: 1400, locale: 'en-GB', colorScheme: 'light' },
  { width: 390, locale: 'ru-RU', colorScheme: 'dark' },
] as const

/** The least width and height of the area of a control that a tap reaches. Small controls reach beyond their edge. */
const LEAST_TAP = 40

/** Texts that are cut off, because their button or label is too narrow. */
const cutOff = `[...document.querySelectorAll('button, [class*=Button-label], [class*=SegmentedControl-label]')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > Math.max(clientWidth, ${LEAST_TAP}) + 1).map(({ textContent }) => textContent)`

/** Cut-off texts of chosen options. Names that people give may be cut off. */
const cutOffChoices = `[...document.querySelectorAll('select')].flatMap(select => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(select)
  const pen = Object.assign(document.createElement('canvas').getContext('2d'), { font })
  const text = select.selectedOptions[0]?.text ?? ''
  const place = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  return !text.includes('<img') && pen.measureText(text).width > place + 1 ? [text] : []
})`

/**
 * Controls that are too small for a thumb, by the area that a tap reaches. The area may be larger than the drawn
 * control, and smaller where another control covers it. A tap on the label of a field counts. Links inside a sentence
 * may be as high as its line.
 */
const tooSmallToTap = `(() => {
  const open = [...document.querySelectorAll('[role=dialog], [role=menu]')].at(-1) ?? document
  const controls = [...open.querySelectorAll('button, a[href], select, summary, [type=checkbox], [type=radio], [role=menuitem]')]
  const place = scrollY
  const found = controls.filter(isShown).filter(control => !isInSentence(control) && Math.min(...areaOf(control)) < ${LEAST_TAP})
  scrollTo(0, place)
  return found.map(({ outerHTML }) => outerHTML)

  function isShown(control) {
    const isSkipLink = control.getBoundingClientRect().bottom + scrollY < 0
    return control.checkVisibility({ visibilityProperty: true }) && !isSkipLink
  }
  function isInSentence(control) {
    if (control.tagName !== 'A' || getComputedStyle(control).display !== 'inline') return false
    let block = control.parentElement
    while (getComputedStyle(block).display === 'inline') block = block.parentElement
    const words = [...block.querySelectorAll('a')].reduce((left, a) => left.replace(a.textContent, ''), block.textContent)
    return /\\p{L}/u.test(words)
  }
  function areaOf(control) {
    const { width, height } = control.getBoundingClientRect()
    if (width >= ${LEAST_TAP} && height >= ${LEAST_TAP}) return [width, height]
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    return [reach(control, -1, 0) + reach(control, 1, 0), reach(control, 0, -1) + reach(control, 0, 1)]
  }
  function reach(control, dx, dy) {
    const { left, top, width, height } = control.getBoundingClientRect()
    const isReached = far => {
      const hit = document.elementFromPoint(left + width / 2 + dx * far, top + height / 2 + dy * far)
      return control.contains(hit) || [...control.labels ?? []].some(label => label.contains(hit))
    }
    let far = 0
    while (far < ${LEAST_TAP} && isReached(far + 0.5)) far++
    return far
  }
})()`

/** Expects that every control can be tapped on a phone. */
export async function expectTappable(page: Page, name: string) {
  if (page.viewportSize()!.width > 760) return
  expect([name, await page.evaluate(tooSmallToTap)]).toEqual([name, []])
}

/**
 * Expects that no text is cut off, axe finds nothing serious, nothing is wider than the screen, and every control can
 * be tapped.
 */
export async function expectGood(page: Page, name: string) {
  expect([name, await page.evaluate(cutOff), await page.evaluate(cutOffChoices)]).toEqual([name, [], []])
  await expectTappable(page, name)
  expect([name, await seriousFindings(page)]).toEqual([name, []])
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  expect([name, await page.evaluate(overflow)]).toEqual([name, 0])
}

/** Whether the dialog has its final size, and the menu that opened it is gone. No animation runs in the first frame yet. */
const isAtRest = `(() => {
  const isDrawn = element => {
    const { opacity, transform } = getComputedStyle(element)
    return opacity === '1' && ['none', 'matrix(1, 0, 0, 1, 0, 0)'].includes(transform)
  }
  const isWhole = element => element === null || (isDrawn(element) && isWhole(element.parentElement))
  const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1)
  return isWhole(dialog) && !document.querySelector('[role=menu]') && document.getAnimations().length === 0
})()`

/** Opens a dialog by a click, waits until its animation ends, checks it, and closes it. */
export async function expectGoodDialog(page: Page, name: string, open: () => Promise<void>) {
  await open()
  await page.getByRole('dialog').waitFor()
  await eventually(async () => expect(await page.evaluate(isAtRest)).toBe(true))
  await expectGood(page, name)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** A page, and the element that appears when it has loaded. */
export type Looked = {
  path: string
  ready: (page: Page) => Promise<unknown>
  /** Opens and checks further parts after the page, such as its dialogs. */
  after?: (page: Page) => Promise<unknown>
}

/** Checks pages on one screen, for a person who is signed in. */
export async function lookAt(
  { newPage }: ReturnType<typeof useBrowser>,
  cabinet: Cabinet,
  { width, locale, colorScheme }: Screen,
  login: string,
  pages: Looked[],
) {
  const page = await newPage({ viewport: { width, height: 844 }, locale, colorScheme })
  const faults = watchFaults(page)
  await enter(page, cabinet, login, pages[0]!.path)
  for (const { path, ready, after } of pages) {
    if (path !== pages[0]!.path) await openPage(page, cabinet, path)
    await ready(page)
    await expectGood(page, path)
    await after?.(page)
  }
  faults.expectNone()
  await page.context().close()
}
