import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { UsageError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { databaseNow } from '../../db/clock.ts'
import { connectionsAllowed } from '../../db/connections.ts'
import type { Database, Opening } from '../../db/database.ts'
import { watchSchema } from '../../db/schema-watch.ts'
import type { Pool } from '../../db/sql.ts'
import { recordEngine } from '../../domain/engines/engines.ts'
import { addSimulators } from '../../domain/gateways/gateways.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { type Call, openMigrated } from '../command.ts'
import { addressesOf, bannerOf } from './banner.ts'
import { type Demo, makeDemo } from './demo.ts'
import { sendDemoDispatch } from './demo-dispatch.ts'
import { makeDemoWidget } from './demo-widget.ts'
import { watchDisk } from './disk-watch.ts'
import { holdPort, openListeners, takeConnections } from './http-listeners.ts'
import { makeLog } from './log.ts'
import { type Address, addressAt, drained, type Service, startApi } from './processes/api.ts'
import { Children, READY } from './processes/children.ts'
import { connectionsForCodes, fittingCounts, inWords, type ProcessCounts, wantedCounts } from './processes/counts.ts'
import { codesThreadOf, engineOptions } from './processes/engine.ts'
import { exchangeMetrics, MetricsExchange } from './processes/metrics-exchange.ts'
import { connectionsOfParent, SharedPort } from './processes/shared-port.ts'
import { type Stopped, untilStopped } from './stopping.ts'
import { openTracer } from './tracing/open-tracer.ts'

export async function serve({ config, options, switches, print, progress }: Call) {
  const wanted = wantedCounts(options, config)
  const log = makeLog(config.logLevel, 'api')
  const opening = { create: true, exclusive: true }
  const withParent = switches['stop-with-parent'] ?? false
  progress('Opening the database, which takes some seconds at the first start ...')
  await withService({ config, log, opening, withParent }, async (database, stopped) => {
    const service = { config, database, log }
    const counts = fittingCounts(wanted, config, await connectionsAllowed(database.sql))
    progress(`Starting ${inWords(counts)} ...`)
    const processes = await startProcesses(service, counts)
    try {
      await Promise.race([processes.ready, stopped.promise])
      if (!stopped.isAsked()) {
        const { address } = processes
        // Only now: a failed or interrupted start must not leave a password that was never shown.
        const demo = config.demo ? await prepareDemo(service, address) : undefined
        progress('')
        const started = { data: database.place, processes: counts, demo }
        const addresses = addressesOf(address.url)
        print({ ...addresses, ...started }, bannerOf(addresses, started, address.localUrl))
      }
      await stopped.promise
    } finally {
      await processes.stop()
    }
  })
}

type Processes = {
  address: Address
  /** Fulfilled when all processes are at work. */
  ready: Promise<unknown>
  stop(): Promise<unknown>
}

/** Engines have processes of their own, so that a bulk send does not slow an API call. */
async function startProcesses(service: Service, counts: ProcessCounts): Promise<Processes> {
  const children = new Children(service.log)
  const api = counts.api === 1 ? await serveHere(service) : await serveInChildren(service, counts.api, children)
  const startEngine = () => startProcess(['engine'], api.address)
  const engines = Array.from({ length: counts.engines }, () => children.keep('engine', startEngine))
  return {
    address: api.address,
    ready: Promise.all([api.ready, ...engines]),
    stop: () => Promise.all([api.stop(), children.stop()]),
  }
}

async function serveHere(service: Service): Promise<Processes> {
  const { config } = service
  const held = config.port === 0 ? await holdPort(config.host) : undefined
  const address = addressAt(config, held?.port ?? config.port)
  const api = await startApi(service, address, async app => {
    await app.ready() // before the release: until the service listens, another program could take the port
    await held?.release()
    return openListeners(app, address.port, config.host)
  })
  return { address, ready: Promise.resolve(), stop: () => api.stop() }
}

/** The HTTP server of one of several processes. The parent has the port and answers for the metrics of all. */
async function serveForParent(service: Service): Promise<Processes> {
  const address = addressAt(service.config, service.config.port)
  const api = await startApi(service, address, app => takeConnections(app, connectionsOfParent()), {
    metricsOfAll: own => exchangeMetrics(process, own),
  })
  return { address, ready: Promise.resolve(), stop: () => api.stop() }
}

async function serveInChildren({ config }: Service, count: number, children: Children): Promise<Processes> {
  const sharedPort = await SharedPort.open(config.host, config.port)
  const metrics = new MetricsExchange()
  const address = addressAt(config, sharedPort.port)
  const startApiProcess = (number: number) => {
    const child = startProcess(['api', '--connections-from-parent'], address)
    sharedPort.join(child)
    metrics.join(number, child)
    return child
  }
  const started = Array.from({ length: count }, (_, i) => children.keep('api', () => startApiProcess(i + 1)))
  return { address, ready: Promise.all(started), stop: () => drained(config).then(() => sharedPort.close()) }
}

/** In a process group of its own: Ctrl-C in the terminal reaches us alone, and we stop it. */
const startProcess = (words: string[], { port }: Address): ChildProcess =>
  fork(main, words, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  })

const main = fileURLToPath(new URL('../../main.ts', import.meta.url))

async function prepareDemo({ config, database: { sql }, log }: Service, { url, localUrl }: Address) {
  const demo = await makeDemo(sql, config.demoPassword, await databaseNow(sql))
  if (demo.companyId) await makeDemoWidget(sql, demo.companyId, [url, localUrl])
  if (demo.key !== undefined) await showTraffic(config, sql, url, demo).catch(err => log.warn({ err }, NO_TRAFFIC))
  return { ...demo, widgetDemo: demo.companyId ? `${url}/widget/demo` : undefined }
}

const NO_TRAFFIC = 'The dispatch of the demo could not be sent; everything else works'

/** Starts the dispatch of the demo. The messages are sent while the banner is printed. */
async function showTraffic({ billingZone }: Config, sql: Pool, url: string, { companyId, senderIds }: Demo) {
  if (!companyId) return
  const now = await databaseNow(sql)
  await sendDemoDispatch(sql, await loadNumbering(sql), {
    companyId,
    senderIds,
    linkBase: `${url}/s`,
    billingZone,
    now,
  })
}

export async function serveApi({ config, switches, print }: Call) {
  const log = makeLog(config.logLevel, 'api')
  await withService({ config, log, opening: openingApart(config) }, async (database, stopped) => {
    const service = { config, database, log }
    const isChild = switches['connections-from-parent'] ?? false
    const api = isChild ? await serveForParent(service) : await serveHere(service)
    const addresses = addressesOf(api.address.url)
    const started = { data: database.place }
    // As a child of `serve` it sends its state to its parent, which prints for all.
    if (isChild) process.send?.(READY)
    else print({ ...addresses, ...started }, bannerOf(addresses, started, api.address.localUrl))
    await stopped.promise
    await api.stop()
  })
}

export async function runEngine({ config, print }: Call) {
  const { startEngine } = await import('../../engine/engine.ts')
  const log = makeLog(config.logLevel, 'engine')
  const { databaseConnections } = config
  const ofOthers = { ...config, databaseConnections: databaseConnections - connectionsForCodes(databaseConnections) }
  await withService({ config: ofOthers, log, opening: openingApart(config) }, async (database, stopped) => {
    if (config.demo) await addSimulators(database.sql)
    const tracing = openTracer({ config, log }, 'engine')
    const engine = await startEngine({
      ...engineOptions(config, database, log),
      startCodesThread: codesThreadOf(config),
      tracer: tracing?.tracer,
    })
    await recordEngine(database.sql, engine.worker) // `/readyz` must not say otherwise when we say that it is up
    // As a child of `serve` it sends its state to its parent, which prints for both.
    if (process.send) process.send(READY)
    else print({ engine: 'started', data: database.place }, `The engine is up, on ${database.place}.`)
    await stopped.promise
    await engine.stop()
    await tracing?.stop()
  })
}

/** Several processes can only share a database of one's own, so they make the tables there and nowhere else. */
const openingApart = (config: Config): Opening => ({ create: config.databaseUrl !== undefined })

type ServiceStart = { config: Config; log: Logger; opening: Opening; withParent?: boolean }

/**
 * Opens the database for a long-running service, waits for the word to stop, and closes it cleanly. A migration that shuts
 * this program out stops it, too, with the sentence that a start would get.
 */
async function withService(
  { config, log, opening, withParent = false }: ServiceStart,
  work: (database: Database, stopped: Stopped) => Promise<void>,
) {
  const stopped = untilStopped(log, { withParent })
  const { database } = await openMigrated(config, opening)
  const disk = config.databaseUrl === undefined && opening.exclusive ? watchDisk(database.place, log) : undefined
  let tooOld: string | undefined
  const schema = await watchSchema(database.sql, refusal => {
    tooOld = refusal
    stopped.ask(refusal)
  })
  try {
    await work(database, stopped)
  } finally {
    schema.stop()
    disk?.stop()
    await database.close()
  }
  if (tooOld !== undefined) throw new UsageError(tooOld)
}
