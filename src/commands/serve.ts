import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Logger, pino } from 'pino'
import { UsageError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { watchNumbering } from '../domain/numbering/numbering.ts'
import { startEngine } from '../engine/engine.ts'
import { type App, buildApp } from '../http/app.ts'
import { type Addresses, bannerOf } from './banner.ts'
import type { Command } from './command.ts'
import { makeDemo } from './demo.ts'

const clock = () => new Date()

export const serveCommand: Command = {
  name: 'serve',
  about: 'Runs everything: the HTTP server here, the engine in a process of its own.',
  async run({ config, print }) {
    const log = makeLog(config, 'api')
    await withService(config, { exclusive: true }, async (database, stopped) => {
      const demo = config.demo ? await makeDemo(database.sql, config.demoPassword, clock()) : undefined
      const api = await startApi(config, database, log)
      const engine = keepEngine(log)
      print({ ...api.addresses, data: database.place, demo }, bannerOf(api.addresses, database.place, demo))
      await stopped
      await Promise.all([api.stop(), engine.stop()])
    })
  },
}

export const apiCommand: Command = {
  name: 'api',
  about: 'Runs the HTTP server alone; any number of them share one database.',
  async run({ config, print }) {
    const log = makeLog(config, 'api')
    await withService(config, {}, async (database, stopped) => {
      const api = await startApi(config, database, log)
      print({ ...api.addresses, data: database.place }, bannerOf(api.addresses, database.place, undefined))
      await stopped
      await api.stop()
    })
  },
}

export const engineCommand: Command = {
  name: 'engine',
  about: 'Runs the engine alone; any number of them share one database.',
  async run({ config, print }) {
    const log = makeLog(config, 'engine')
    await withService(config, {}, async (database, stopped) => {
      const engine = startEngine({ sql: database.sql, clock, log, moderation: config.moderation })
      // As a child of `serve` it says nothing; the parent prints for both.
      if (!process.send) print({ engine: 'started', data: database.place }, `The engine is up, on ${database.place}.`)
      await stopped
      await engine.stop()
    })
  },
}

/** Opens the database for a long-running service, waits for the word to stop, and closes it cleanly. */
async function withService(
  config: Config,
  options: { exclusive?: boolean },
  work: (database: Database, stopped: Promise<void>) => Promise<void>,
) {
  const stopped = untilStopped()
  const database = await openDatabase(config, options)
  try {
    await migrate(database.sql)
    await work(database, stopped)
  } finally {
    await database.close()
  }
}

const PATIENCE_MS = 60_000

/**
 * The first SIGTERM or SIGINT asks to stop; a second one, or a minute without an end, ends the process as it is.
 * A child also stops when its parent is gone, however it went.
 */
function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(1)
      asked = true
      setTimeout(() => process.exit(1), PATIENCE_MS).unref()
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    process.once('disconnect', () => {
      if (!asked) stop()
    })
  })
}

async function startApi(config: Config, database: Database, log: Logger) {
  const numbering = await watchNumbering(database.sql, {
    onError: err => log.warn({ err }, 'numbering.reload_failed'),
  })
  const app = await buildApp({
    sql: database.sql,
    clock,
    numbering: numbering.current,
    log,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    metrics: config.metrics,
  })
  const port = await listen(app, config)
  return {
    addresses: addressesOf(config, port),
    async stop() {
      await app.close()
      await numbering.stop()
    },
  }
}

async function listen(app: App, { port, host }: Config): Promise<number> {
  await app.listen({ port, host }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(whyNotListening(error, port, host))
  })
  return (app.server.address() as AddressInfo).port
}

function whyNotListening(error: NodeJS.ErrnoException, port: number, host: string): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use: stop what uses it, or set PORT to another one.`
  if (error.code === 'EACCES') return `Port ${port} needs more rights than this user has: set PORT to one above 1023.`
  return `Cannot listen on ${host}: ${error.message}. Check HOST.`
}

function addressesOf(config: Config, port: number): Addresses {
  const url = config.port === 0 ? `http://localhost:${port}` : config.publicUrl
  return { url, partnerApi: `${url}/partner/v1`, messagingApi: `${url}/api/v1`, docs: `${url}/docs` }
}

const RESTART_MS = 1000
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/** The engine in a process of its own, so that a bulk send does not slow an API call; started again if it dies. */
function keepEngine(log: Logger) {
  const stopping = new AbortController()
  let child: ChildProcess
  const running = run()

  async function run() {
    while (!stopping.signal.aborted) {
      child = fork(main, ['engine'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
      const [code, signal] = await once(child, 'exit')
      if (stopping.signal.aborted) return
      log.error({ code, signal }, 'engine.died')
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

/** Log lines go to stderr; stdout is for what a command has to say. */
const makeLog = (config: Config, role: string): Logger =>
  pino({ level: config.logLevel, base: { role, pid: process.pid } }, pino.destination(2))
