import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { loadNumbering } from '../src/domain/numbering/numbering.ts'
import { buildApp } from '../src/http/app.ts'
import { PASSWORD } from '../src/testing/cabinet.ts'
import { freePort } from '../src/testing/free-port.ts'
import type { Stage } from './stage.ts'

/** The service with its cabinet on a port of its own. */
export async function serveCabinet({ sql }: Pick<Stage, 'sql'>) {
  const numbering = await loadNumbering(sql)
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const app = await buildApp({
    sql,
    clock: () => new Date(),
    numbering: () => numbering,
    log: pino({ level: 'silent' }),
    billingZone: 'Europe/Moscow',
    publicUrl: origin,
    trustedProxies: [],
    metrics: false,
    secret: 'a secret of the benches, 32 or longer',
  })
  await app.listen({ port, host: '127.0.0.1' })
  return { origin, close: () => app.close() }
}

/** Signs in on the page that is open, and waits for the frame of the cabinet. */
export async function signIn(page: Page, login: string) {
  await page.getByRole('textbox', { name: 'E-mail or login' }).fill(login)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').first().waitFor()
}
