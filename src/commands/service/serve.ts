import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { VitalSigns } from '../../base/process/vitals.ts'
import type { Config } from '../../config.ts'
import { DatabaseClock, databaseNow } from '../../db/clock.ts'
import type { Database, Opening } from '../../db/database.ts'
import type { Pool } from '../../db/sql.ts'
import { recordEngine } from '../../domain/engines/engines.ts'
import { addSimulators } from '../../domain/gateways/gateways.ts'
import { forgetGoneApis, recordApi, removeApi } from '../../domain/health/processes.ts'
import { watchNumbering } from '../../domain/numbering/numbering.ts'
import { type Call, openMigrated } from '../command.ts'
import { type Addresses, bannerOf } from './banner.ts'
import { type Demo, makeDemo } from './demo.ts'
import { sendDemoDispatch } from './demo-dispatch.ts'
import { makeDemoWidget } from './demo-widget.ts'
import { watchDisk } from './disk-watch.ts'
import { freePort, openListeners, urlOf } from './http-listeners.ts'
import { makeLog } from './log.ts'
import { type Stopped, untilStopped } from './stopping.ts'

export async function serve({ config, switches, print, progress }: Call) {
  const log = makeLog(config.logLevel, 'api')
  const opening = { create: true, exclusive: true }
  const withParent = switches['stop-with-parent'] ?? false
  progress('Opening the database, which takes some seconds at the first start ...')
  await withService({ config, log, opening, withParent }, async (database, stopped) => {
    progress('')
    const api = await startApi(config, database, log)
    let engine: Engine | undefined
    try {
      progress('Starting the engine ...')
      engine = keepEngine(log)
      await Promise.race([engine.ready, stopped.promise])
      if (!stopped.isAsked()) {
        // Only now: a failed or interrupted start must not leave a password that was never shown.
        const demo = config.demo ? await prepareDemo(config, database, api, log) : undefined
        progress('')
        print(
          { ...api.addresses, data: database.place, demo },
          bannerOf(api.addresses, database.place, demo && { demo, localUrl: api.localUrl }),
        )
      }
      await stopped.promise
    } finally {
      await Promise.all([api.stop(), engine?.stop()])
    }
  })
}

type Api = Awaited<ReturnType<typeof startApi>>

async function prepareDemo(config: Config, { sql }: Database, api: Api, log: Logger) {
  const demo = await makeDemo(sql, config.demoPassword, await databaseNow(sql))
  if (demo.companyId) await makeDemoWidget(sql, demo.companyId, [api.addresses.url, api.localUrl])
  if (demo.key !== undefined) await showTraffic(config, sql, api, demo).catch(err => log.warn({ err }, NO_TRAFFIC))
  return { ...demo, widgetDemo: demo.companyId ? `${api.addresses.url}/widget/demo` : undefined }
}

const NO_TRAFFIC = 'The dispatch of the demo could not be sent; everything else works'

/** Starts the dispatch of the demo. The messages are sent while the banner is printed. */
async function showTraffic({ billingZone }: Config, sql: Pool, api: Api, { companyId, senderIds }: Demo) {
  if (!companyId) return
  const linkBase = `${api.addresses.url}/s`
  const now = await databaseNow(sql)
  await sendDemoDispatch(sql, api.numbering(), { companyId, senderIds, linkBase, billingZone, now })
}

export async function serveApi({ config, print }: Call) {
  const log = makeLog(config.logLevel, 'api')
  await withService({ config, log, opening: openingApart(config) }, async (database, stopped) => {
    const api = await startApi(config, database, log)
    print({ ...api.addresses, data: database.place }, bannerOf(api.addresses, database.place))
    await stopped.promise
    await api.stop()
  })
}

export async function runEngine({ config, print }: Call) {
  const { startEngine } = await import('../../engine/engine.ts')
  const log = makeLog(config.logLevel, 'engine')
  await withService({ config, log, opening: openingApart(config) }, async (database, stopped) => {
    if (config.demo) await addSimulators(database.sql)
    const { moderation, billingZone, stopWords } = config
    const callbacks = {
      retrySeconds: config.callbackRetrySeconds,
      allow: config.callbackAllow,
      sourceIp: config.callbackSourceIp,
    }
    const { sql, secret } = database
    const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
    const context = { sql, secret, log, moderation, billingZone, callbacks, stopWords, publicUrl }
    const engine = await startEngine({ ...context, keepMonths: config.keepMonths })
    await recordEngine(sql, engine.worker) // `/readyz` must not say otherwise when we say that it is up
    // As a child of `serve` it sends its state to its parent, which prints for both.
    if (process.send) process.send(READY)
    else print({ engine: 'started', data: database.place }, `The engine is up, on ${database.place}.`)
    await stopped.promise
    await engine.stop()
  })
}

/** Several processes can only share a database of one's own, so they make the tables there and nowhere else. */
const openingApart = (config: Config): Opening => ({ create: config.databaseUrl !== undefined })

type ServiceStart = { config: Config; log: Logger; opening: Opening; withParent?: boolean }

/** Opens the database for a long-running service, waits for the word to stop, and closes it cleanly. */
async function withService(
  { config, log, opening, withParent = false }: ServiceStart,
  work: (database: Database, stopped: Stopped) => Promise<void>,
) {
  const stopped = untilStopped(log, { withParent })
  const { database } = await openMigrated(config, opening)
  const disk = config.databaseUrl === undefined && opening.exclusive ? watchDisk(database.place, log) : undefined
  try {
    await work(database, stopped)
  } finally {
    disk?.stop()
    await database.close()
  }
}

const GRACE_MS = 30_000

async function startApi(config: Config, database: Database, log: Logger) {
  // Loaded here alone: it is more than half of what starting a process costs, and commands and the engine do without.
  const { buildApp } = await import('../../http/app.ts')
  const { knownConnectors } = await import('../../engine/gateways/known-connectors.ts')
  const numbering = await watchNumbering(database.sql, {
    onError: err => log.warn({ err }, 'numbering.reload_failed'),
  })
  const clock = await DatabaseClock.follow({ sql: database.sql, log })
  const stopWatching = () => Promise.all([numbering.stop(), clock.stop()])
  try {
    const port = config.port || (await freePort(config.host))
    const url = config.publicUrl ?? urlOf(config.host, port)
    const { billingZone, trustedProxies, metrics, metricsAllow, stopWords, moderation } = config
    const context = {
      sql: database.sql,
      secret: database.secret,
      connectors: knownConnectors({ sql: database.sql, secret: database.secret, stopWords }),
      dataFolder: config.databaseUrl === undefined ? database.place : undefined,
      stopWords,
      moderation,
      clock: clock.now,
      clockOffMs: clock.offMs,
      numbering: numbering.current,
      log,
      billingZone,
      trustedProxies,
      metrics,
      metricsAllow,
      demo: config.demo,
      captchaUrls: captchaUrlsOf(config),
      limits: limitsOf(config),
    }
    const app = await buildApp({ ...context, publicUrl: url })
    const listeners = await openListeners(app, port, config.host)
    const presence = await tellPresence(database.sql, clock, log)
    return {
      addresses: addressesOf(url),
      localUrl: urlOf(config.host, port),
      numbering: numbering.current,
      async stop() {
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

const PRESENT_EVERY_MS = 5000

/** Says that this process is there and how it is doing, for the page of the service's health. */
async function tellPresence(sql: Pool, clock: DatabaseClock, log: Logger) {
  const id = randomUUID()
  const vitals = new VitalSigns()
  const tell = async () => {
    await recordApi(sql, id, clock.offMs(), vitals.read())
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

const addressesOf = (url: string): Addresses => ({
  url,
  cabinet: `${url}/cabinet/`,
  partnerApi: `${url}/partner/v1`,
  messagingApi: `${url}/api/v1`,
  docs: `${url}/docs`,
})

const RESTART_MS = 1000
const READY = 'ready'
const main = fileURLToPath(new URL('../../main.ts', import.meta.url))

type Engine = {
  /** Fulfilled when the first engine is at work. */
  ready: Promise<void>
  stop(): Promise<void>
}

/** The engine in a process of its own, so that a bulk send does not slow an API call; started again if it dies. */
function keepEngine(log: Logger): Engine {
  const stopping = new AbortController()
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>()
  let child: ChildProcess
  const running = run()

  async function run() {
    while (!stopping.signal.aborted) {
      // In a process group of its own: Ctrl-C in the terminal reaches us alone, and we stop it.
      child = fork(main, ['engine'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true })
      child.on('message', message => {
        if (message === READY) becomeReady()
      })
      const end = await endOf(child)
      if (stopping.signal.aborted) return
      log.error(end, 'engine.died')
      await pause(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    ready,
    async stop() {
      stopping.abort()
      child.kill('SIGTERM')
      await running
    },
  }
}

const endOf = (child: ChildProcess) =>
  once(child, 'exit').then(
    ([code, signal]) => ({ code, signal }),
    err => ({ err }), // it could not even be started
  )
