import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { knownConnectors } from '../../src/engine/gateways/known-connectors.ts'
import { type App, buildApp } from '../../src/http/app.ts'
import { PASSWORD } from '../../src/testing/cabinet.ts'
import { type TestDatabase, useDatabase } from '../../src/testing/database.ts'
import { freePort } from '../../src/testing/free-port.ts'

export const SECRET = 'a secret of the tests, 32 or longer'

export type Cabinet = TestDatabase & {
  app: App
  /** The address of the service, without a slash at the end. */
  origin: string
}

/** The service with its cabinet on a free port, in demo mode or not. */
export function useCabinet({ demo = false } = {}): Cabinet {
  const cabinet = useDatabase() as Cabinet

  beforeAll(async () => {
    const numbering = await loadNumbering(cabinet.sql)
    const port = await freePort()
    cabinet.origin = `http://localhost:${port}`
    cabinet.app = await buildApp({
      sql: cabinet.sql,
      clock: () => new Date(),
      numbering: () => numbering,
      log: pino({ level: 'silent' }),
      billingZone: 'Europe/Moscow',
      publicUrl: cabinet.origin,
      trustedProxies: [],
      metrics: false,
      demo,
      secret: SECRET,
      connectors: knownConnectors({ sql: cabinet.sql, secret: SECRET }),
    })
    await cabinet.app.listen({ port, host: '127.0.0.1' })
  })
  afterAll(() => cabinet.app?.close())
  return cabinet
}

export const openPage = (page: Page, { origin }: Cabinet, path = '') => page.goto(`${origin}/cabinet/${path}`)

/** Opens a page as a person who has signed in. Tests of signing in itself type the password. */
export async function enter(page: Page, cabinet: Cabinet, login: string, path = '') {
  const { origin } = cabinet
  const answer = await page.request.post(`${origin}/cabinet/api/session`, {
    data: { login, password: PASSWORD },
    headers: { origin },
  })
  expect(answer.status()).toBe(200)
  await openPage(page, cabinet, path)
}

/** Types login and password into the sign-in page that is open. */
export async function typeCredentials(page: Page, login: string, password = PASSWORD) {
  await page.getByRole('textbox', { name: /E-mail or login|Почта или логин/ }).fill(login)
  await page.getByLabel(/^(Password|Пароль)$/).fill(password)
  await page.getByRole('button', { name: /^(Sign in|Войти)$/ }).click()
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Rules of axe whose findings are never serious. */
const mildRules = `axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')`

/** The findings of axe on the page that are serious or worse, as lines. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Evaluated instead of added as a script, because the page's policy allows no other script.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await readFile(axePath, 'utf8'))
  // With `preload`, axe would copy the style sheets of shadow roots into styles of the page. Only violations are
  // described in full, which takes less time.
  return page.evaluate(`axe.run({
      preload: false,
      resultTypes: ['violations'],
      rules: Object.fromEntries(${mildRules}.map(({ id }) => [id, { enabled: false }])),
    }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ': ' + failureSummary)))`)
}

/** Fails the test if the page's policy blocks something, or if a script throws an error that no code catches. */
export function watchFaults(page: Page) {
  const faults: string[] = []
  page.on('pageerror', error => faults.push(String(error)))
  page.on('console', message => {
    if (/Content Security Policy|Warning:|violates/.test(message.text())) faults.push(message.text())
  })
  return { expectNone: () => expect(faults).toEqual([]) }
}
