import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type BrowserContext, chromium } from 'playwright-core'

export type Look = { paint: number; shift: number; hasPlaceholders: boolean; text: string }

const START_MS = 30_000
const CLOSE_MS = 5000
const OPTIONS = ['--headless=new', '--no-sandbox', '--no-first-run', '--window-size=1400,900', '--lang=en-GB']
/** Otherwise the browser asks for addresses of its maker. */
const SILENCE = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

/**
 * A browser as a person has it: with a profile on disk, and without a debugger on the page while it loads. A debugger
 * asks for the script that causes each request, for which the browser parses whole scripts again.
 */
export class PlainBrowser {
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #address: string
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (answer: { result?: unknown; error?: { message: string } }) => void>()
  #requests = 0

  private constructor(process: ChildProcess, profile: string, address: string) {
    this.#process = process
    this.#profile = profile
    this.#address = address
    this.#socket = new WebSocket(address)
    this.#socket.onmessage = ({ data }) => {
      const answer = JSON.parse(String(data))
      this.#answers.get(answer.id)?.(answer)
      this.#answers.delete(answer.id)
    }
  }

  static async open(path: string): Promise<PlainBrowser> {
    const profile = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
    const options = [...OPTIONS, ...SILENCE, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank']
    const process = spawn(path, options, { stdio: ['ignore', 'ignore', 'pipe'] })
    try {
      const browser = new PlainBrowser(process, profile, await addressOf(process))
      await once(browser.#socket, 'open', { signal: AbortSignal.timeout(START_MS) })
      return browser
    } catch (error) {
      await end(process, profile)
      throw error
    }
  }

  /** Prepares the profile with a debugger, which leaves afterwards. */
  async prepare(work: (context: BrowserContext) => Promise<void>): Promise<void> {
    const { host } = new URL(this.#address)
    const controlled = await chromium.connectOverCDP(`http://${host}`)
    try {
      await work(controlled.contexts()[0]!)
    } finally {
      await controlled.close()
    }
  }

  /** Opens an address in a new tab, and asks the tab after this time. */
  async look(address: string, afterMs: number): Promise<Look> {
    const { targetId } = await this.#ask<{ targetId: string }>('Target.createTarget', { url: address })
    await pause(afterMs)
    const { sessionId } = await this.#ask<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    const request = { expression: question, awaitPromise: true, returnByValue: true }
    const { result } = await this.#ask<{ result: { value: Look } }>('Runtime.evaluate', request, sessionId)
    await this.#ask('Target.closeTarget', { targetId })
    return result.value
  }

  async close(): Promise<void> {
    this.#socket.close()
    await end(this.#process, this.#profile)
  }

  #ask<Answer>(method: string, params: object, sessionId?: string): Promise<Answer> {
    const id = ++this.#requests
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the browser does not answer ${method}`)), START_MS)
      this.#answers.set(id, ({ result, error }) => {
        clearTimeout(late)
        if (error) reject(new Error(`${method}: ${error.message}`))
        else resolve(result as Answer)
      })
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    })
  }
}

async function end(process: ChildProcess, profile: string) {
  if (process.exitCode === null) {
    const ended = once(process, 'exit', { signal: AbortSignal.timeout(CLOSE_MS) })
    process.kill()
    await ended.catch(() => process.kill('SIGKILL'))
  }
  await rm(profile, { recursive: true, force: true, maxRetries: 5 })
}

/** The line in which the browser tells the address for programs. Without one, its words tell the reason. */
async function addressOf({ stderr }: ChildProcess): Promise<string> {
  let printed = ''
  const late = setTimeout(() => stderr!.push(null), START_MS) // ends the loop
  try {
    for await (const chunk of stderr!.iterator({ destroyOnReturn: false })) {
      printed += String(chunk)
      const found = /(ws:\/\/\S+)\n/.exec(printed)
      if (found) return found[1]!
    }
    throw new Error(`the browser did not start: ${printed}`)
  } finally {
    clearTimeout(late)
    stderr!.resume()
  }
}

/** The browser keeps its entries for observers that come later. */
const question = `new Promise(answer => {
  const look = { paint: 0, shift: 0, text: document.body.innerText,
    hasPlaceholders: document.querySelector('.mantine-Skeleton-root') !== null }
  new PerformanceObserver(list => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) look.shift += value
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver(list => { look.paint = list.getEntries().at(-1).startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => answer(look), 50)
})`
