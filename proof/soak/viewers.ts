import { setTimeout as pause } from 'node:timers/promises'
import { aPerson, ofCompany, PASSWORD } from '../../src/testing/cabinet.ts'
import type { Installation, Sending } from '../installation/installation.ts'

const VIEWS = ['/overview', '/messages', '/dispatches']
const READS = ['/message?limit=100', '/balance']
const PAUSE_MS = 500

type Page = { url: string; headers: Record<string, string> }

/** People with open pages of the cabinet, and programs that read through the API. */
export class Viewers {
  readonly #stopping = new AbortController()
  readonly #loops: Promise<void>[]

  static async start(installation: Installation): Promise<Viewers> {
    const pages: Page[][] = []
    for (const company of installation.companies) pages.push(await pagesOf(installation, company))
    return new Viewers(pages)
  }

  private constructor(pages: Page[][]) {
    this.#loops = pages.map(ofOne => this.#view(ofOne))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  async #view(pages: Page[]) {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      for (const { url, headers } of pages) {
        const response = await fetch(url, { headers })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`${url} answered ${response.status}`)
      }
      await pause(PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  }
}

async function pagesOf({ url, sql }: Installation, { companyId, messageKey }: Sending): Promise<Page[]> {
  const { login } = await aPerson(sql, ofCompany(companyId), 'owner')
  const cookie = await signIn(url, login)
  return [
    ...VIEWS.map(path => ({ url: `${url}/cabinet/api${path}`, headers: { cookie } })),
    ...READS.map(path => ({ url: `${url}/api/v1${path}`, headers: { authorization: `Bearer ${messageKey}` } })),
  ]
}

async function signIn(url: string, login: string): Promise<string> {
  const response = await fetch(`${url}/cabinet/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ login, password: PASSWORD }),
  })
  if (!response.ok) throw new Error(`the cabinet answered ${response.status} ${await response.text()}`)
  return response.headers.getSetCookie()[0]!.split(';', 1)[0]!
}
