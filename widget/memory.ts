import type { Session } from './api.ts'

/**
 * Keeps the session of one widget and number when the page reloads, as long as its tab is open. If the browser forbids
 * storage, the widget starts again after a reload.
 */
export class Memory {
  readonly #name: string

  constructor(widgetId: string, destination: string) {
    this.#name = `tidings:${widgetId}:${destination}`
  }

  read(): Session | undefined {
    try {
      const { key, secret } = JSON.parse(sessionStorage.getItem(this.#name) ?? '{}')
      return key && secret ? { key, secret } : undefined
    } catch {
      return undefined
    }
  }

  write(session: Session | undefined) {
    try {
      if (session) sessionStorage.setItem(this.#name, JSON.stringify(session))
      else sessionStorage.removeItem(this.#name)
    } catch {}
  }
}
