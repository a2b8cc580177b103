import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Logger, pino } from 'pino'
import { printableJsonLine } from '../base/printable.ts'
import type { Config } from '../config.ts'
import type { Database, Opening } from '../db/database.ts'
import { addSimulators } from '../domain/gateways/gateways.ts'
import { watchNumbering } from '../domain/numbering/numbering.ts'
import { type Addresses, bannerOf } from './banner.ts'
import { type Call, openMigrated } from './command.ts'
import { makeDemo } from './demo.ts'
import { freePort, openDoors, urlOf } from './doors.ts'

const clock = () => new Date()

export async function serve({ config, print }: Call) {
  const log = makeLog(config, 'api')
  await withService(config, { create: true, exclusive: true }, async (database, stopped) => {
    const api = await startApi(config, database, log)
    let engine: Engine | undefined
    try {
      // Only now: a port in use must not leave a password behind that nobody has seen.
      const demo = config.demo ? await makeDemo(database.sql, config.demoPassword, clock()) : undefined
      engine = keepEngine(log)
      print({ ...api.addresses, data: database.place, demo }, bannerOf(api.addresses, database.place, demo))
      await stopped
    } finally {
      await Promise.all([api.stop(), engine?.stop()])
    }
  })
}

export async function serveApi({ config, print }: Call) {
  const log = makeLog(config, 'api')
  await withService(config, { create: config.databaseUrl !== undefined }, async (database, stopped) => {
    const api = await startApi(config, database, log)
    print({ ...api.addresses, data: database.place }, bannerOf(api.addresses, database.place, undefined))
    await stopped
    await api.stop()
  })
}

export async function runEngine({ config, print }: Call) {
  const { startEngine } = await import('../engine/engine.ts')
  const log = makeLog(config, 'engine')
  await withService(config, { create: config.databaseUrl !== undefined }, async (database, stopped) => {
    if (config.demo) await addSimulators(database.sql)
    const { moderation, billingZone, stopWords } = config
    const callbacks = {
      retrySeconds: config.callbackRetrySeconds,
      allow: config.callbackAllow,
      sourceIp: config.callbackSourceIp,
    }
    const { sql, secret } = database
    const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
    const context = { sql, secret, clock, log, moderation, billingZone, callbacks, stopWords, publicUrl }
    const engine = await startEngine({ ...context, keepMonths: config.keepMonths })
    // As a child of `serve` it says nothing; the parent prints for both.
    if (!process.send) print({ engine: 'started', data: database.place }, `The engine is up, on ${database.place}.`)
    await stopped
    await engine.stop()
  })
}

/** Opens the database for a long-running service, waits for the word to stop, and closes it cleanly. */
async function withService(
  config: Config,
  opening: Opening,
  work: (database: Database, stopped: Promise<void>) => Promise<void>,
) {
  const stopped = untilStopped()
  const { database } = await openMigrated(config, opening)
  try {
    await work(database, stopped)
  } finally {
    await database.close()
  }
}

const PATIENCE_MS = 120_000
// One Ctrl-C under npm arrives twice: from the terminal, and passed on by npm.
const ECHO_MS = 1_000

/**
 * The first signal asks to stop; another one after it, or two minutes without an end, ends the process as it is.
 * A child also stops when its parent is gone, however it went.
 */
function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    let askedAt: number | undefined
    const ask = () => {
      askedAt = performance.now()
      setTimeout(() => process.exit(1), PATIENCE_MS).unref()
      resolve()
    }
    const onSignal = () => {
      if (askedAt === undefined) ask()
      else if (performance.now() - askedAt > ECHO_MS) process.exit(1)
    }
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
    process.once('disconnect', () => {
      if (askedAt === undefined) ask()
    })
    process.channel?.unref() // listening for it must not keep a child alive that has finished
  })
}

const GRACE_MS = 30_000

async function startApi(config: Config, database: Database, log: Logger) {
  // Loaded here alone: it is more than half of what starting a process costs, and commands and the engine do without.
  const { buildApp } = await import('../http/app.ts')
  const numbering = await watchNumbering(database.sql, {
    onError: err => log.warn({ err }, 'numbering.reload_failed'),
  })
  try {
    const port = config.port || (await freePort(config.host))
    const url = config.publicUrl ?? urlOf(config.host, port)
    const { billingZone, trustedProxies, metrics, stopWords } = config
    const context = {
      sql: database.sql,
      secret: database.secret,
      stopWords,
      clock,
      numbering: numbering.current,
      log,
      billingZone,
      trustedProxies,
      metrics,
    }
    const app = await buildApp({ ...context, publicUrl: url })
    const doors = await openDoors(app, port, config.host)
    return {
      addresses: addressesOf(url),
      async stop() {
        await doors.close(GRACE_MS)
        await numbering.stop()
      },
    }
  } catch (error) {
    await numbering.stop()
    throw error
  }
}

const addressesOf = (url: string): Addresses => ({
  url,
  partnerApi: `${url}/partner/v1`,
  messagingApi: `${url}/api/v1`,
  docs: `${url}/docs`,
})

const RESTART_MS = 1000
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

type Engine = { stop(): Promise<void> }

/** The engine in a process of its own, so that a bulk send does not slow an API call; started again if it dies. */
function keepEngine(log: Logger): Engine {
  const stopping = new AbortController()
  let child: ChildProcess
  const running = run()

  async function run() {
    while (!stopping.signal.aborted) {
      // In a process group of its own: Ctrl-C in the terminal reaches us alone, and we stop it.
      child = fork(main, ['engine'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true })
      const end = await endOf(child)
      if (stopping.signal.aborted) return
      log.error(end, 'engine.died')
      await pause(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
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

/** Log lines go to stderr; stdout is for what a command has to say. */
function makeLog(config: Config, role: string): Logger {
  const stderr = pino.destination(2)
  const write = (line: string) => void stderr.write(printableJsonLine(line))
  return pino({ level: config.logLevel, base: { role, pid: process.pid } }, { write })
}
