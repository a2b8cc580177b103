import type { Channel, Session } from './api.ts'

/** When a way may be used again, in milliseconds since 1970. */
export type Pauses = Partial<Record<Channel, number>>

export type Remembered = Session & { pauses: Pauses }

/**
 * Keeps the session of one widget and number over a reload of the page, for as long as its tab is open. Browsers may
 * forbid it: the widget then begins anew after a reload.
 */
export class Memory {
  readonly #name: string

  constructor(widgetId: string, destination: string) {
    this.#name = `tidings:${widgetId}:${destination}`
  }

  read(): Remembered | undefined {
    try {
      const { key, secret, pauses } = JSON.parse(sessionStorage.getItem(this.#name) ?? '{}')
      return key && secret ? { key, secret, pauses: pauses ?? {} } : undefined
    } catch {
      return undefined
    }
  }

  write(session: Remembered | undefined) {
    try {
      if (session) sessionStorage.setItem(this.#name, JSON.stringify(session))
      else sessionStorage.removeItem(this.#name)
    } catch {}
  }
}
