import type { ChannelType } from '../../base/channel-types.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { type Gateway, type GatewayState, isDrained } from '../gateways/gateway.ts'
import { listGateways } from '../gateways/gateways.ts'
import { type GatewayDay, gatewayDays, throttledAt } from '../gateways/monitoring/minutes.ts'
import { gatewayEngines, gatewayStates } from '../gateways/monitoring/states.ts'
import { waitingByRoute } from '../lanes/lanes.ts'
import * as store from './store.ts'

/** The condition of a gateway. `drained`: the drain is over. `unknown`: no engine reports it. */
export type GatewayCondition = 'up' | 'throttled' | 'down' | 'unknown' | 'paused' | 'draining' | 'drained'

/** A gateway with the figures that the cabinet shows. */
export type GatewayView = {
  gateway: Gateway
  standing: GatewayCondition
  /** The time at which the operator last answered "too fast". */
  throttledAt: Date | null
  state: GatewayState | undefined
  day: GatewayDay
  /** The waiting messages that the gateway may take, and how many of them no other gateway takes now. */
  waiting: number
  stuck: number
  engines: EngineOfGateway[]
}

export type EngineOfGateway = Awaited<ReturnType<typeof gatewayEngines>>[number] & {
  host: string
  pid: number
  startedAt: Date | null
}

type Route = { channelType: ChannelType; brandId: number; messages: number }

const TIMEOUT_MS = 3000
const nothing: GatewayDay = { outstanding: 0, endedLastMinute: 0, hour: [], errors: [] }

/** All gateways, with the states that the engines wrote. */
export async function gatewayViews(pool: Pool, now: Date): Promise<GatewayView[]> {
  return await pool.begin('read only', async sql => {
    await store.limitTime(sql, TIMEOUT_MS)
    return viewsIn(sql, now)
  })
}

async function viewsIn(sql: Sql, now: Date): Promise<GatewayView[]> {
  const [gateways, states, days, routes, engines, processes] = await Promise.all([
    listGateways(sql),
    gatewayStates(sql),
    gatewayDays(sql),
    waitingByRoute(sql),
    gatewayEngines(sql),
    store.selectEngines(sql),
  ])
  const isUp = ({ gatewayId, paused }: Gateway) => !paused && states.get(gatewayId)?.up === true
  const processOf = new Map(processes.map(process => [process.id, process]))
  return gateways.map(gateway => {
    const { gatewayId } = gateway
    const state = states.get(gatewayId)
    const day = days.get(gatewayId) ?? nothing
    const mine = routes.filter(route => serves(gateway, route))
    const others = gateways.filter(other => other !== gateway && isUp(other))
    const stuck = mine.filter(route => !others.some(other => serves(other, route)))
    const throttled = throttledAt(day, now)
    return {
      gateway,
      standing: standingOf(gateway, state, { day, throttled, now }),
      throttledAt: throttled,
      state,
      day,
      waiting: sumOf(mine),
      stuck: sumOf(stuck),
      engines: engines
        .filter(engine => engine.gatewayId === gatewayId)
        .map(engine => {
          const { host = '', pid = 0, startedAt = null } = processOf.get(engine.worker) ?? {}
          return { ...engine, host, pid, startedAt }
        }),
    }
  })
}

type Facts = { day: GatewayDay; throttled: Date | null; now: Date }

function standingOf(
  gateway: Gateway,
  state: GatewayState | undefined,
  { day, throttled, now }: Facts,
): GatewayCondition {
  if (gateway.drainUntil) return isDrained(gateway, day.outstanding + (state?.open ?? 0), now) ? 'drained' : 'draining'
  if (gateway.paused) return 'paused'
  if (!state) return 'unknown'
  if (!state.up) return 'down'
  return throttled ? 'throttled' : 'up'
}

const sumOf = (routes: Route[]) => routes.reduce((sum, { messages }) => sum + messages, 0)

/** Ignores the names of gateways, because the sender checks them for each message. */
const serves = ({ channelType, brands }: Gateway, route: Route) =>
  channelType === route.channelType && (brands.length === 0 || brands.includes(route.brandId))
