import type { Pool } from '../../db/sql.ts'
import { defaultLimits, type VerifierSettings, type Widget } from '../../domain/verifiers/verifier.ts'
import { changeVerifier, ensureVerifier } from '../../domain/verifiers/verifiers.ts'
import { DEMO_WIDGET, findDemoWidget } from '../../http/widget/demo/demo-widget.ts'

/** A page that is tried out asks for many codes from one address, and types few of them. */
const settings: Partial<VerifierSettings> = {
  channels: ['SMS', 'VOICECODE', 'FLASHCALL', 'TELEGRAM_GATEWAY'],
  fallbackSeconds: null,
  pauseSeconds: 20,
  limits: { ...defaultLimits, perNumber: 100, perAddress: 1000, leastConfirmed: 0 },
}

/** So many addresses of earlier starts stay: with port 0 every start has another one. */
const MOST_ORIGINS = 20

/** The widget of `/widget/demo`, made where it is missing; pages at the addresses of this start may show it. */
export async function makeDemoWidget(sql: Pool, companyId: number, addresses: string[]): Promise<void> {
  const origins = originsAt(addresses)
  await ensureVerifier(sql, companyId, 'WIDGET', { name: DEMO_WIDGET, settings, page: { origins } })
  const widget = await findDemoWidget(sql)
  if (widget) await allowOrigins(sql, widget, origins)
}

/** A browser on this machine may call it by its name or by its number. */
function originsAt(addresses: string[]): string[] {
  const origins = addresses.map(address => new URL(address).origin)
  const byNumber = origins.map(origin => origin.replace('//localhost', '//127.0.0.1'))
  return [...new Set([...origins, ...byNumber])]
}

async function allowOrigins(sql: Pool, widget: Widget, origins: string[]) {
  if (origins.every(origin => widget.page.origins.includes(origin))) return
  await changeVerifier(sql, widget, ({ page }) => ({
    page: { origins: [...new Set([...origins, ...page!.origins])].slice(0, MOST_ORIGINS) },
  }))
}
