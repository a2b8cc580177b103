import { UsageError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { DatabaseClock } from '../../db/clock.ts'
import type { Database } from '../../db/database.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { urlOf } from '../service/http-listeners.ts'
import { makeLog } from '../service/log.ts'

export type ServiceAnswer = { status: number; body: string }

/** The API that widgets in browsers call. */
export type WidgetService = {
  /** For people: an address, or that there is no service. */
  place: string
  post(action: string, body: object, origin: string): Promise<ServiceAnswer>
  close(): Promise<void>
}

const TIMEOUT_MS = 15_000

/** The service at the address that is given; else the running one, and where none answers, one in this process. */
export async function findService(config: Config, database: Database, url: string | undefined): Promise<WidgetService> {
  if (url !== undefined) return serviceAt(readUrl(url))
  for (const address of addressesOf(config)) if (await answersAt(address)) return serviceAt(address)
  return ownService(config, database)
}

function readUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new UsageError(`--url must be an http or https address, not "${text}".`)
  return text.replace(/\/+$/, '')
}

/** With port 0 the service took a free one, which only itself knows. */
const addressesOf = ({ host, port, publicUrl }: Config) => [
  ...(port > 0 ? [urlOf(host, port)] : []),
  ...(publicUrl === undefined ? [] : [publicUrl]),
]

/** Another program may listen there: only Tidings answers so to a request without a widget. */
async function answersAt(address: string): Promise<boolean> {
  try {
    const { status, body } = await serviceAt(address).post('open', {}, address)
    return status === 400 && JSON.parse(body).error.code === 4000
  } catch {
    return false
  }
}

function serviceAt(address: string): WidgetService {
  return {
    place: address,
    async post(action, body, origin) {
      const response = await fetch(`${address}/widget/api/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((error: Error) => {
        throw new UsageError(`The service does not answer at ${address}: ${whyNot(error)}.`)
      })
      return { status: response.status, body: await response.text() }
    },
    async close() {},
  }
}

const whyNot = ({ name, message, cause }: Error) =>
  name === 'TimeoutError' ? `no answer within ${TIMEOUT_MS / 1000} s` : cause instanceof Error ? cause.message : message

/** The HTTP side of the service on its database, without a socket. */
async function ownService(config: Config, { sql, secret }: Database): Promise<WidgetService> {
  const { buildApp } = await import('../../http/app.ts')
  const log = makeLog('silent', 'api')
  const clock = await DatabaseClock.follow({ sql, log })
  const numbering = await loadNumbering(sql)
  const { billingZone, publicUrl = urlOf(config.host, config.port) } = config
  const context = { sql, secret, log, billingZone, publicUrl, trustedProxies: [], metrics: false }
  const app = await buildApp({ ...context, clock: clock.now, numbering: () => numbering })
  return {
    place: 'this process, because no service answers',
    async post(action, payload, origin) {
      const request = { method: 'POST' as const, url: `/widget/api/${action}`, payload, headers: { origin } }
      const { statusCode, body } = await app.inject(request)
      return { status: statusCode, body }
    },
    async close() {
      await app.close()
      await clock.stop()
    },
  }
}
