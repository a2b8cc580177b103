import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { within } from '../../base/concurrency/within.ts'
import { AppError } from '../../base/errors.ts'
import { isInNetworks } from '../../base/network/networks.ts'
import type { Reading } from '../../db/reading.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import type { Gateway, GatewayState } from '../../domain/gateways/gateway.ts'
import { listGateways } from '../../domain/gateways/gateways.ts'
import { gatewayStates, partsPerSecondOf } from '../../domain/gateways/monitoring/states.ts'
import { subjectKinds } from '../../domain/verifications/guard.ts'
import { countBlocked } from '../../domain/verifications/verifications.ts'
import type { Context } from '../context.ts'
import type { GuardLog } from '../guard-watch.ts'
import { readNamedNetworks } from '../server/named-networks.ts'
import { engineMetrics } from './engine-metrics.ts'
import { moneyMetrics } from './money-metrics.ts'
import { trafficMetrics } from './traffic-metrics.ts'
import { buildInfo, versionMetrics } from './version-metrics.ts'

/** Prometheus gives up after ten seconds. Figures of the database that take longer are left out. */
const LONGEST_READ_MS = 5000

/**
 * Prometheus metrics: request times by route and status, the Node.js process, the messages, the gateways, the engines, the
 * database, and the limits of verification codes.
 */
export function registerMetrics(
  app: FastifyInstance,
  {
    sql,
    log,
    guard,
    reading,
    dataFolder,
    billingZone,
    metricsOfAll = own => own,
    ...allowed
  }: Pick<
    Context,
    'sql' | 'log' | 'metricsAllow' | 'trustedProxies' | 'metricsOfAll' | 'reading' | 'dataFolder' | 'billingZone'
  > & {
    guard: Pick<GuardLog, 'refusals'>
  },
) {
  const ofProcess = new Registry()
  const ofService = new Registry()
  const processMetrics = metricsOfAll(() => ofProcess.metrics())
  collectDefaultMetrics({ register: ofProcess })
  const requests = new Histogram({
    name: 'tidings_http_request_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [ofProcess],
  })
  const figures = figuresOfDatabase(ofService, dataFolder, billingZone)
  buildInfo(ofProcess)
  countRefusals(ofProcess, guard)
  if (reading) showReplica(ofProcess, reading)

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })
  app.get('/metrics', async (request, reply) => {
    refuseStrangers(request, allowed)
    const ofDatabase = await figures.read(sql, log).catch(err => {
      log.warn({ err }, 'metrics.not_read')
      return ofService.metrics() // the figures that are known already
    })
    return reply.type(ofService.contentType).send(`${await processMetrics()}\n${ofDatabase}`)
  })
}

/**
 * Figures of the whole service, as text. Requests at the same time share one reading, and a reading that takes too long ends
 * before the next one begins: two readings at once would count the same messages twice.
 */
function figuresOfDatabase(registry: Registry, dataFolder: string | undefined, billingZone: string) {
  const gateways = gatewayGauges(registry)
  const blocked = blockedGauge(registry)
  const versions = versionMetrics(registry)
  const traffic = trafficMetrics(registry)
  const engines = engineMetrics(registry)
  const money = moneyMetrics(registry)
  let running: Promise<string> | undefined

  const refreshAll = (sql: Pool, log: Context['log'], now = new Date()) =>
    Promise.all([
      gateways.refresh(sql).catch(err => log.warn({ err }, 'gateway_metrics.not_read')),
      blocked.refresh(sql).catch(err => log.warn({ err }, 'verification_metrics.not_read')),
      versions.refresh(sql).catch(err => log.warn({ err }, 'version_metrics.not_read')),
      traffic.refresh(sql, now).catch(err => log.warn({ err }, 'traffic_metrics.not_read')),
      money.refresh(sql, { now, billingZone }).catch(err => log.warn({ err }, 'money_metrics.not_read')),
      engines.refresh(sql, now, dataFolder).catch(err => log.warn({ err }, 'engine_metrics.not_read')),
    ])
  return {
    read(sql: Pool, log: Context['log']): Promise<string> {
      running ??= refreshAll(sql, log)
        .then(() => registry.metrics())
        .finally(() => {
          running = undefined
        })
      return within(LONGEST_READ_MS, running)
    },
  }
}

/**
 * The service knows the address of a client behind a proxy only if it trusts the proxy. A request through another proxy on
 * this machine would look local, so it is refused.
 */
function refuseStrangers(
  { ip, headers }: FastifyRequest,
  { metricsAllow = ['loopback'], trustedProxies }: Pick<Context, 'metricsAllow' | 'trustedProxies'>,
) {
  const isForwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some(name => headers[name] !== undefined)
  const isKnown = !isForwarded || trustedProxies.length > 0
  if (!isKnown || !isInNetworks(readNamedNetworks(metricsAllow), ip))
    throw new AppError('access_denied', 'Access Denied')
}

/** One value of a gateway, from its row and the states that engines report. Undefined values are left out. */
type GatewayGauge = { help: string; of(gateway: Gateway, state: GatewayState | undefined): number | undefined }

const gauges: Record<string, GatewayGauge> = {
  up: { help: 'Whether an engine can hand it messages', of: (_, state) => Number(state?.up ?? false) },
  bound: { help: 'Connections that are up', of: (_, state) => state?.bound ?? 0 },
  open: { help: 'Messages under way', of: (_, state) => state?.open ?? 0 },
  window: { help: 'Most messages that may be under way', of: (_, state) => state?.window ?? 0 },
  rate: { help: 'Parts taken a second, over the last minute', of: (_, state) => (state ? partsPerSecondOf(state) : 0) },
  paused: { help: 'Whether it is paused', of: gateway => Number(gateway.paused) },
  // Without the text of the error: each text would be a time series of its own.
  last_error_timestamp_seconds: {
    help: 'When it last had an error, in seconds since 1970',
    of: (_, state) => (state?.lastErrorAt ? state.lastErrorAt.getTime() / 1000 : undefined),
  },
}

function gatewayGauges(registry: Registry) {
  const labelNames = ['name', 'channel', 'connector']
  const all = Object.entries(gauges).map(([name, { help, of }]) => ({
    of,
    gauge: new Gauge({ name: `tidings_gateway_${name}`, help, labelNames, registers: [registry] }),
  }))
  return {
    async refresh(sql: Sql) {
      for (const { gauge } of all) gauge.reset()
      const [gateways, states] = await Promise.all([listGateways(sql), gatewayStates(sql)])
      for (const gateway of gateways) {
        const labels = { name: gateway.name, channel: gateway.channelType, connector: gateway.connector }
        for (const { gauge, of } of all) {
          const value = of(gateway, states.get(gateway.gatewayId))
          if (value !== undefined) gauge.set(labels, value)
        }
      }
    },
  }
}

/** Counts over all companies. A kind without blocks is 0, so that alerts can detect an increase. */
function blockedGauge(registry: Registry) {
  const gauge = new Gauge({
    name: 'tidings_verification_blocked',
    help: 'Subjects for which no verification codes are sent now',
    labelNames: ['kind'],
    registers: [registry],
  })
  return {
    async refresh(sql: Sql) {
      gauge.reset()
      const counts = new Map((await countBlocked(sql)).map(({ kind, count }) => [kind, count]))
      for (const kind of subjectKinds) gauge.set({ kind }, counts.get(kind) ?? 0)
    },
  }
}

/** The pool that this process uses for searches, reports and statistics. */
function showReplica(registry: Registry, reading: Reading) {
  new Gauge({
    name: 'tidings_replica_used',
    help: 'Whether searches and reports go to the standby of TIDINGS_READ_URL',
    registers: [registry],
    collect() {
      this.set(Number(reading.state().isReplica))
    },
  })
  new Gauge({
    name: 'tidings_replica_lag_seconds',
    help: 'How far the standby of TIDINGS_READ_URL is behind; NaN when it does not answer',
    registers: [registry],
    collect() {
      this.set((reading.state().lagMs ?? Number.NaN) / 1000)
    },
  })
}

/** Counts of this process since its start. */
function countRefusals(registry: Registry, { refusals }: Pick<GuardLog, 'refusals'>) {
  new Counter({
    name: 'tidings_verification_refused_total',
    help: 'Verification codes that were not sent because of a limit',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, count] of refusals) this.inc({ kind }, count)
    },
  })
}
