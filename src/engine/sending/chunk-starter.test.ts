import { pino } from 'pino'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { CODES, type Lease, type PagedLane, type RunnableLane } from '../../domain/lanes/lane.ts'
import { loadNumbering, type Numbering } from '../../domain/numbering/numbering.ts'
import { useDatabase } from '../../testing/database.ts'
import { eventually } from '../../testing/eventually.ts'
import { aLiveGateway, aStartedDispatch } from '../../testing/live-gateways.ts'
import type { Serving } from '../gateways/gateways.ts'
import type { Route } from './active-chunks.ts'
import type { Allowance } from './allowances.ts'
import { ChunkStarter } from './chunk-starter.ts'
import { type Turn, TurnOfCodes, TurnOfOthers } from './turn.ts'

const db = useDatabase()
const worker = crypto.randomUUID()
const now = new Date()
const after = (ms: number) => new Date(now.getTime() + ms)
let numbering: Numbering

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(() => db.sql`update lanes set open = false`)

const aLane = async (messages?: number) => (await aStartedDispatch(db.sql, numbering, messages)).lane

const unlimited = { parts: Number.POSITIVE_INFINITY, retryAt: new Date() }

/** A starter that notes the chunks instead of sending them. `parts` is the allowance of each gateway in turn. */
function aStarter(serving: Partial<Serving>, draws: Omit<Allowance, 'limits'>[] = [unlimited]) {
  const sent: { lease: Lease; route: Route }[] = []
  const returned: number[] = []
  const rested: number[] = []
  const waiting = [...draws]
  const all = new ChunkStarter({
    sql: db.sql,
    clock: () => now,
    log: pino({ level: 'silent' }),
    worker,
    gateways: { serving: () => ({ known: true, up: [], isElsewhere: false, ...serving }) },
    allowances: {
      draw: async () => ({ limits: [], ...(waiting.shift() ?? unlimited) }),
      giveBack: async (_, parts) => void returned.push(parts),
      fittingCount: async messages => messages.length,
    },
    chunks: { send: async (_, lease, route) => void sent.push({ lease, route }) },
    onRoom: () => {},
    onRested: () => void rested.push(performance.now()),
  })
  const starter = {
    finished: () => all.finished(),
    async start(lane: RunnableLane, turn: Turn) {
      const [started] = await all.startAll([lane], turn)
      await turn.settled()
      return started
    },
  }
  return { starter, sent, returned, rested }
}

/** A turn in which other gateways of the channel have places, or not. */
const aTurn = (others = [aLiveGateway(9)]) =>
  new TurnOfOthers({ ofChannel: () => ({ up: others, all: others.length }) })
const turn = aTurn()
const codes = new TurnOfCodes({ ofChannel: () => ({ up: [aLiveGateway(9)], all: 1 }) })

const notBefore = async ({ companyId, laneId }: PagedLane) => {
  const [row] = await db.sql<{ notBefore: Date }[]>`
    select not_before from lanes where company_id = ${companyId} and lane_id = ${laneId}`
  return row?.notBefore
}

test('a chunk of the lane is leased and sent through the gateway', async () => {
  const lane = await aLane(5)
  const gateway = aLiveGateway(1)
  const { starter, sent } = aStarter({ up: [gateway] })
  expect(await starter.start(lane, turn)).toBe(5)
  await starter.finished()
  expect(sent).toMatchObject([{ lease: { laneId: lane.laneId }, route: { gateway, mostMessages: 100 } }])
})

test('the least busy gateway is chosen, and among equals the gateway that was used longest ago', async () => {
  const [first, second, busy] = [aLiveGateway(1), aLiveGateway(2), aLiveGateway(3, { busy: 1 })]
  const { starter, sent } = aStarter({ up: [busy, first, second] })
  for (let chunk = 0; chunk < 3; chunk++) await starter.start(await aLane(), turn)
  expect(sent.map(({ route }) => route.gateway?.gateway.gatewayId)).toEqual([1, 2, 1])
})

test('a lane whose gateways have no free place is busy, and codes have more places', async () => {
  const lane = await aLane()
  const { starter, sent } = aStarter({ up: [aLiveGateway(1, { busy: 3 })] })
  expect(await starter.start(lane, turn)).toBe('busy')
  expect(sent).toEqual([])
  expect(await starter.start({ ...lane, priority: CODES }, codes)).toBe(5)
})

test('a lane whose gateway other engines use is busy, not down', async () => {
  const { starter } = aStarter({ isElsewhere: true })
  expect(await starter.start(await aLane(), turn)).toBe('busy')
})

test('messages that one gateway may have accepted are sent through no other gateway', async () => {
  const lane = { ...(await aLane()), gatewayId: 2 }
  expect(await aStarter({ up: [aLiveGateway(1)] }).starter.start(lane, turn)).toBe('busy')
  const { starter, sent } = aStarter({ up: [aLiveGateway(1), aLiveGateway(2)] })
  await starter.start(lane, turn)
  expect(sent.map(({ route }) => route.gateway?.gateway.gatewayId)).toEqual([2])
})

test('a lane without any gateway is started without one, so that its messages are refused', async () => {
  const { starter, sent } = aStarter({ known: false })
  expect(await starter.start(await aLane(), turn)).toBe(5)
  expect(sent[0]?.route.gateway).toBeUndefined()
})

test('the next gateway is chosen when the limits of the first have no parts left', async () => {
  const empty = { parts: 0, retryAt: new Date() }
  const { starter, sent } = aStarter({ up: [aLiveGateway(1), aLiveGateway(2)] }, [empty, { ...unlimited, parts: 3 }])
  expect(await starter.start(await aLane(), turn)).toBe(3)
  expect(sent[0]?.route).toMatchObject({ mostMessages: 3, gateway: { gateway: { gatewayId: 2 } } })
})

test('the parts are returned when another worker has emptied the lane', async () => {
  const lane = await aLane()
  await aStarter({ up: [aLiveGateway(1)] }).starter.start(lane, turn)
  const { starter, sent, returned } = aStarter({ up: [aLiveGateway(1)] }, [{ ...unlimited, parts: 4 }])
  expect(await starter.start(lane, turn)).toBe(0)
  expect({ sent, returned }).toEqual({ sent: [], returned: [4] })
})

test.each(['CLOSED', 'DENIED'])('a lane of a %s sender is started without a gateway', async senderStatus => {
  const { starter, sent } = aStarter({ up: [aLiveGateway(1)] })
  expect(await starter.start({ ...(await aLane()), senderStatus }, turn)).toBe(5)
  expect(sent[0]?.route.gateway).toBeUndefined()
})

test('a lane whose gateways are down is postponed for a second', async () => {
  const lane = await aLane()
  expect(await aStarter({}).starter.start(lane, turn)).toBe('waits')
  expect(await notBefore(lane)).toEqual(after(1000))
})

test('a lane of a sender name that is not approved is postponed for a second', async () => {
  const lane = await aLane()
  const { starter, sent } = aStarter({ up: [aLiveGateway(1)] })
  expect(await starter.start({ ...lane, senderStatus: 'INTERNAL_REVIEW' }, turn)).toBe('waits')
  expect(await notBefore(lane)).toEqual(after(1000))
  expect(sent).toEqual([])
})

test('a lane is postponed until its sending hours begin', async () => {
  const lane = await aLane()
  const { starter, sent } = aStarter({ up: [aLiveGateway(1)] })
  expect(await starter.start({ ...lane, startAt: after(3600_000), offsetMinutes: 0 }, turn)).toBe(0)
  expect(sent).toEqual([])
  expect(await notBefore(lane)).toEqual(after(3600_000))
})

test('a lane with used-up limits is postponed until they are refilled, but a lane of codes is not', async () => {
  const refilled = { parts: 0, retryAt: after(200) }
  const lane = await aLane()
  expect(await aStarter({ up: [aLiveGateway(1)] }, [refilled]).starter.start(lane, turn)).toBe('waits')
  expect(await notBefore(lane)).toEqual(after(200))
  const limited = { ...(await aLane()), dispatchRate: 1 }
  expect(await aStarter({ up: [aLiveGateway(1)] }, [refilled]).starter.start(limited, turn)).toBe(0)
  expect(await notBefore(limited)).toEqual(after(200))
  const ofCodes = { ...(await aLane()), priority: CODES }
  const before = await notBefore(ofCodes)
  expect(await aStarter({ up: [aLiveGateway(1)] }, [refilled]).starter.start(ofCodes, codes)).toBe('waits')
  expect(await notBefore(ofCodes)).toEqual(before)
})

test('a lane whose dispatch is at its limit does not hold up others, although one of its gateways rests', async () => {
  const lane = { ...(await aLane()), dispatchRate: 1 }
  const [resting, free] = [aLiveGateway(1), aLiveGateway(2)]
  const draws = [
    { parts: 0, retryAt: after(100), restMs: 200 },
    { parts: 0, retryAt: after(200) },
  ]
  const { starter } = aStarter({ up: [resting, free] }, draws)
  expect(await starter.start(lane, aTurn([resting, free]))).toBe(0)
  expect(await notBefore(lane)).toEqual(after(100))
})

test('a gateway whose own limit is used up rests: its lanes wait and are not postponed, and codes go', async () => {
  const gateway = aLiveGateway(1)
  const [first, next] = [await aLane(), await aLane()]
  const before = await notBefore(next)
  const { starter, rested } = aStarter({ up: [gateway] }, [{ parts: 1, retryAt: after(200), restMs: 200 }])
  const alone = aTurn([gateway])
  expect(await starter.start(first, alone)).toBe(1)
  expect(alone.endsAt).toBe(gateway.restsUntil)
  expect(await starter.start(next, alone)).toBe('busy')
  expect(
    await starter.start(
      { ...next, priority: CODES },
      new TurnOfCodes({ ofChannel: () => ({ up: [gateway], all: 1 }) }),
    ),
  ).toBe(5)
  await eventually(async () => expect(rested[0]).toBeGreaterThanOrEqual(gateway.restsUntil!))
  expect(await starter.start(next, alone)).toBe('busy') // in this turn
  expect(await notBefore(next)).toEqual(before)
})

test('a lane whose gateways all rest is postponed when others of its channel can send', async () => {
  const [lane, other] = [await aLane(), await aLane()]
  const resting = aLiveGateway(1, { restsUntil: performance.now() + 60_000 })
  expect(await aStarter({ up: [resting] }).starter.start(lane, aTurn())).toBe('waits')
  expect((await notBefore(lane))!.getTime()).toBeGreaterThan(after(30_000).getTime())
  const before = await notBefore(other)
  const full = aLiveGateway(2, { busy: 3 })
  expect(await aStarter({ up: [resting, full] }).starter.start(other, aTurn())).toBe('busy')
  expect(await notBefore(other)).toEqual(before)
})
