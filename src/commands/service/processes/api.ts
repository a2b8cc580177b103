import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { VitalSigns } from '../../../base/process/vitals.ts'
import type { Config } from '../../../config.ts'
import { DatabaseClock } from '../../../db/clock.ts'
import type { Database } from '../../../db/database.ts'
import { newestVersion } from '../../../db/migrate.ts'
import { ReplicaReading } from '../../../db/reading.ts'
import { connectBeside, hangUp, type Pool } from '../../../db/sql.ts'
import { forgetGoneApis, recordApi, removeApi } from '../../../domain/health/processes.ts'
import { watchNumbering } from '../../../domain/numbering/numbering.ts'
import type { App } from '../../../http/app.ts'
import type { Context } from '../../../http/context.ts'
import { openMailer } from '../../mail/open-mailer.ts'
import { type HttpListeners, urlOf } from '../http-listeners.ts'
import { openTracer } from '../tracing/open-tracer.ts'

/** The time for the open requests when the process stops. */
export const GRACE_MS = 30_000

/** The parts of a service that its HTTP server needs. */
export type Service = { config: Config; database: Database; log: Logger }

/** `url` is for the outside world, `localUrl` for this machine. */
export type Address = { port: number; url: string; localUrl: string }

export function addressAt(config: Config, port: number): Address {
  const localUrl = urlOf(config.host, port)
  return { port, url: config.publicUrl ?? localUrl, localUrl }
}

/** The HTTP server in this process. */
export async function startApi(
  service: Service,
  { url }: Address,
  open: (app: App) => Promise<HttpListeners>,
  more: Pick<Context, 'metricsOfAll'> = {},
): Promise<{ stop(): Promise<void> }> {
  // Loaded here alone: it is more than half of what starting a process costs, and commands and the engine do without.
  const { buildApp } = await import('../../../http/app.ts')
  const { database, log } = service
  const numbering = await watchNumbering(database.sql, {
    onError: err => log.warn({ err }, 'numbering.reload_failed'),
  })
  const clock = await DatabaseClock.follow({ sql: database.sql, log })
  const reading = readingFrom(service)
  const tracing = openTracer(service, 'api')
  const stopWatching = () => Promise.all([numbering.stop(), clock.stop(), reading?.stop(), tracing?.stop()])
  try {
    let isDraining = false
    const state = {
      clock: clock.now,
      clockOffMs: clock.offMs,
      numbering: numbering.current,
      isDraining: () => isDraining,
    }
    const app = await buildApp({
      ...(await contextOf(service)),
      ...state,
      ...more,
      reading,
      tracer: tracing?.tracer,
      publicUrl: url,
    })
    const listeners = await open(app)
    const presence = await tellPresence(database.sql, clock, log)
    return {
      async stop() {
        isDraining = true
        listeners.drain()
        await drained(service.config)
        await listeners.close(GRACE_MS)
        await presence.stop()
        await stopWatching()
      },
    }
  } catch (error) {
    await stopWatching()
    throw error
  }
}

/** The time in which a proxy notices that the process is draining. */
export const drained = ({ drainSeconds }: Pick<Config, 'drainSeconds'>) => pause(drainSeconds * 1000)

function readingFrom({ config, database: { sql, replica }, log }: Service): ReplicaReading | undefined {
  if (!replica) return
  return new ReplicaReading({
    primary: sql,
    replica,
    openProbe: () => connectBeside(replica),
    hangUp: openedBefore => hangUp(replica, openedBefore),
    mostLagMs: config.readLagSeconds * 1000,
    log,
  })
}

async function contextOf({ config, database: { sql, secret, place }, log }: Service) {
  const { knownConnectors } = await import('../../../engine/gateways/known-connectors.ts')
  const { billingZone, trustedProxies, metrics, metricsAllow, stopWords, moderation, demo } = config
  const send = await openMailer(config)
  return {
    sql,
    secret,
    connectors: knownConnectors({ sql, secret, stopWords }),
    dataFolder: config.databaseUrl === undefined ? place : undefined,
    stopWords,
    moderation,
    log,
    billingZone,
    trustedProxies,
    metrics,
    metricsAllow,
    demo,
    captchaUrls: captchaUrlsOf(config),
    mails: send && { send, language: config.mailLanguage },
    limits: limitsOf(config),
  }
}

const PRESENT_EVERY_MS = 5000

/** Says that this process is there and how it is doing, for the page of the service's health. */
async function tellPresence(sql: Pool, clock: DatabaseClock, log: Logger) {
  const id = randomUUID()
  const vitals = new VitalSigns()
  const schemaVersion = await newestVersion()
  const tell = async () => {
    await recordApi(sql, id, clock.offMs(), { ...vitals.read(), schemaVersion })
    await forgetGoneApis(sql)
  }
  const tryToTell = () => tell().catch(err => log.warn({ err }, 'presence.not_told'))
  await tryToTell()
  const timer = setInterval(() => void tryToTell(), PRESENT_EVERY_MS).unref()
  return {
    async stop() {
      clearInterval(timer)
      vitals.stop()
      await removeApi(sql, id).catch(err => log.warn({ err }, 'presence.not_removed'))
    },
  }
}

const captchaUrlsOf = ({ recaptchaUrl, hcaptchaUrl, turnstileUrl }: Config) => ({
  recaptcha: recaptchaUrl,
  hcaptcha: hcaptchaUrl,
  turnstile: turnstileUrl,
})

const limitsOf = (config: Config) => ({
  connections: config.connections,
  connectionsPerAddress: config.connectionsPerAddress,
  documents: { companyMib: config.documentsOfCompanyMib, partnerMib: config.documentsOfPartnerMib },
})
