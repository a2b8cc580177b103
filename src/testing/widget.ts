import { expect } from 'vitest'
import type { Pool } from '../db/sql.ts'
import type { PageSettings, VerifierSettings } from '../domain/verifiers/verifier.ts'
import { createVerifier } from '../domain/verifiers/verifiers.ts'
import type { App } from '../http/app.ts'

/** The site that shows the widgets of the tests. */
export const SHOP = 'https://shop.example'

export const aWidget = (
  sql: Pool,
  companyId: number,
  { page, settings }: { page?: Partial<PageSettings>; settings?: Partial<VerifierSettings> } = {},
) =>
  sql.begin(tx =>
    createVerifier(tx, companyId, 'WIDGET', {
      page: { origins: [SHOP], captcha: 'none', ...page },
      ...(settings ? { settings } : {}),
    }),
  )

export type Asking = { origin?: string | undefined; address?: string }

/** A browser that shows the widget on a page. */
export const browserOf = (app: () => App) => ({
  /** One request of the widget, with its status. */
  async ask(action: string, body: object, { origin = SHOP, address = '203.0.113.7' }: Asking = {}) {
    const response = await app().inject({
      method: 'POST',
      url: `/widget/api/${action}`,
      payload: body,
      remoteAddress: address,
      headers: origin === '' ? {} : { origin },
    })
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the content
    const parsed: any = response.body === '' ? undefined : response.json()
    return { status: response.statusCode, body: parsed, headers: response.headers }
  },

  /** Begins a session. Fails the test if it is refused. */
  async begin(widgetId: string, destination: string, more: object = {}): Promise<{ key: string; secret: string }> {
    const { status, body } = await this.ask('sessions', { widgetId, destination, ...more })
    expect([status, body]).toEqual([200, expect.objectContaining({ state: 'WAITING' })])
    return { key: body.key, secret: body.secret }
  },
})
