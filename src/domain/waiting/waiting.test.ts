import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../testing/world.ts'
import { setCompanyStatus, setSwitches } from '../companies/companies.ts'
import type { Schedule } from '../dispatches/dispatch.ts'
import { requireAnyDispatch } from '../dispatches/reading.ts'
import { recordEngine } from '../engines/engines.ts'
import type { GatewayState } from '../gateways/gateway.ts'
import { addGateway } from '../gateways/gateways.ts'
import { writeGatewayStates } from '../gateways/monitoring/states.ts'
import { loadNumbering, type Numbering } from '../numbering/numbering.ts'
import { setSenderRate } from '../senders/senders.ts'
import { reasonsToWait } from './waiting.ts'

const db = useDatabase()
const worker = '00000000-0000-4000-8000-000000000001'
const now = new Date()
let numbering: Numbering
let world: World
let gatewayId: number

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
  world = await aWorld(db.sql)
})

beforeEach(async () => {
  await db.sql`delete from gateway_states`
  await db.sql`delete from gateways`
  await db.sql`delete from engines`
  await recordEngine(db.sql, worker)
  gatewayId = (await aGateway('operator')).gatewayId
  await aState({ up: true })
})

const aGateway = async (name: string, partsPerSecond: number | null = null) =>
  (await addGateway(db.sql, {
    name,
    channelType: 'SMS',
    connector: 'simulator',
    brands: [],
    settings: {},
    partsPerSecond,
  }))!

const aState = (state: Partial<GatewayState>) =>
  writeGatewayStates(db.sql, worker, [
    {
      gatewayId,
      up: false,
      open: 0,
      window: 1,
      bound: 0,
      wanted: 0,
      partsLastMinute: 0,
      lastError: null,
      lastErrorAt: null,
      answerMs: null,
      version: 1,
      ...state,
    },
  ])

async function aStarted(schedule?: Schedule): Promise<number> {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(4), schedule ? { schedule } : {})
  await start(db.sql, world, dispatchId, now)
  return dispatchId
}

const reasons = async (dispatchId: number) => reasonsToWait(db.sql, await requireAnyDispatch(db.sql, dispatchId), now)

test('nothing is in the way of a dispatch that may go', async () => {
  expect(await reasons(await aStarted())).toEqual([])
})

test('an engine that is missing', async () => {
  const dispatchId = await aStarted()
  await db.sql`delete from engines`
  expect(await reasons(dispatchId)).toEqual([{ kind: 'engine' }])
})

test('a gateway that is down, with its last error, and a paused gateway, unless another gateway is up', async () => {
  const dispatchId = await aStarted()
  await aState({ lastError: 'connection refused', lastErrorAt: now })
  const down = { name: 'operator', paused: false, lastError: 'connection refused' }
  expect(await reasons(dispatchId)).toEqual([{ kind: 'gateways', channelType: 'SMS', gateways: [down] }])
  await db.sql`update gateways set paused = true`
  expect(await reasons(dispatchId)).toMatchObject([{ kind: 'gateways', gateways: [{ ...down, paused: true }] }])
  const other = await aGateway('other')
  gatewayId = other.gatewayId
  await aState({ up: true })
  expect(await reasons(dispatchId)).toEqual([])
})

test('a window that is closed until later', async () => {
  const until = new Date(now.getTime() + 3600_000)
  const hours = Array.from({ length: 24 }, (_, hour) => hour)
  const dispatchId = await aStarted({ startAt: until, offsetMinutes: 0, hours, days: [1, 2, 3, 4, 5, 6, 7] })
  expect(await reasons(dispatchId)).toEqual([{ kind: 'window', until }])
})

test('a disabled company, a suspended name, and the tightest limit', async () => {
  const dispatchId = await aStarted()
  await setCompanyStatus(db.sql, world.companyId, 'DISABLED')
  expect(await reasons(dispatchId)).toEqual([{ kind: 'company' }])
  await setCompanyStatus(db.sql, world.companyId, 'ACTIVE')

  await setSwitches(db.sql, world.companyId, { partsPerSecond: 50 })
  await setSenderRate(db.sql, world.senders[0]!.senderId, 5)
  expect(await reasons(dispatchId)).toEqual([{ kind: 'limit', of: 'sender', name: 'ROMASHKA', partsPerSecond: 5 }])
  await setSenderRate(db.sql, world.senders[0]!.senderId, null)
  await setSwitches(db.sql, world.companyId, { partsPerSecond: null })

  await db.sql`update senders set suspended = true where sender_id = ${world.senders[0]!.senderId}`
  expect(await reasons(dispatchId)).toEqual([{ kind: 'sender', senderName: 'ROMASHKA', status: 'suspended' }])
  await db.sql`update senders set suspended = false where sender_id = ${world.senders[0]!.senderId}`
})

test('receipts of SENT messages', async () => {
  const dispatchId = await aStarted()
  const dispatch = await requireAnyDispatch(db.sql, dispatchId)
  expect(await reasonsToWait(db.sql, { ...dispatch, waiting: 0, awaitingReceipt: 4 }, now)).toEqual([
    { kind: 'receipts', messages: 4 },
  ])
})
