import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { loadNumbering } from '../../src/domain/numbering/numbering.ts'
import { sealCaptchaSecret } from '../../src/domain/verifiers/captcha-secret.ts'
import type { PageSettings, VerifierSettings } from '../../src/domain/verifiers/verifier.ts'
import { changeVerifier, requireAnyVerifier } from '../../src/domain/verifiers/verifiers.ts'
import { listErrors } from '../../src/domain/widgets/errors.ts'
import { type App, buildApp } from '../../src/http/app.ts'
import { type CaptchaProviders, type CaptchaSite, startCaptchaProviders } from '../../src/testing/captcha-providers.ts'
import { aMessagingSide, type MessagingSide } from '../../src/testing/conformance/messaging-world.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { useEngines } from '../../src/testing/engines.ts'
import { anApprovedSender } from '../../src/testing/factories.ts'
import { codeGateways, codeIn, handedText, secret } from '../../src/testing/verification.ts'
import { aWidget } from '../../src/testing/widget.ts'

const messengerSenders = { WHATSAPP: 'Lutik', VIBER: 'Lutik', TELEGRAM: 'lutik_bot' }

/** The whole service on a port of loopback, with simulated operators and captcha providers, for pages in a browser. */
export function useService() {
  const db = useDatabase()
  const { anEngine } = useEngines(db)
  let app: App
  let side: MessagingSide
  let providers: CaptchaProviders
  let numbers = 0

  beforeAll(async () => {
    providers = await startCaptchaProviders()
    side = await aMessagingSide(db.sql)
    for (const channelType of ['WHATSAPP', 'VIBER', 'TELEGRAM'] as const)
      await anApprovedSender(db.sql, side.companyId, { channelType, senderName: messengerSenders[channelType] })
    const numbering = await loadNumbering(db.sql)
    app = await buildApp({
      sql: db.sql,
      clock: () => new Date(),
      numbering: () => numbering,
      log: pino({ level: 'silent' }),
      billingZone: 'Europe/Moscow',
      publicUrl: 'http://localhost:8080',
      trustedProxies: [],
      metrics: false,
      secret,
      captchaUrls: providers.urls,
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
  })
  beforeEach(async () => {
    await db.sql`truncate verification_limits, widget_sessions, widget_errors`
    await codeGateways(db.sql)
    await anEngine({ secret })
  })
  afterAll(async () => {
    await app?.close()
    await providers?.stop()
  })

  const url = () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

  return {
    url,
    sql: () => db.sql,
    side: () => side,
    providers: () => providers,

    /** A number that no other test uses. Its last four digits decide the result of its messages. */
    aNumber: (ending = '1234') => `7917${String(++numbers).padStart(3, '0')}${ending}`,

    aWidget: (page: Partial<PageSettings>, settings: Partial<VerifierSettings> = {}) =>
      aWidget(db.sql, side.companyId, {
        page: { captcha: 'altcha', ...page },
        settings: { senders: messengerSenders, ...settings },
      }),

    /** Sets the captcha of a provider for the widget. */
    async useProvider(widgetId: string, { kind, siteKey, secret: captchaSecret }: CaptchaSite) {
      await changeVerifier(db.sql, await requireAnyVerifier(db.sql, 'WIDGET', widgetId), {
        page: { captcha: kind, captchaSiteKey: siteKey },
        captchaSecret: sealCaptchaSecret(secret, captchaSecret),
      })
    },

    /** A request of the site's server. */
    async ask(action: 'send' | 'check', body: object, key = side.keys.VERIFIER) {
      const response = await fetch(`${url()}/api/v1/verifier/widget/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(120_000),
      })
      // biome-ignore lint/suspicious/noExplicitAny: each test checks the content
      return { status: response.status, body: (await response.json()) as any }
    },

    /** The code that the simulated operator got for a number. */
    codeFor: async (destination: string, channelType?: string) =>
      codeIn(await handedText(db.sql, destination, channelType)),

    async expectLogged(widgetId: string, code: number) {
      const errors = await listErrors(db.sql, side.companyId, { widgetId, limit: 100 })
      expect(errors.map(error => error.code)).toContain(code)
    },
  }
}
