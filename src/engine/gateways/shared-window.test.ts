import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { CallingChannel, type Sent } from '../../channels/calling-channel.ts'
import type { Outgoing } from '../../channels/channel.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { SharedWindow } from './shared-window.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })
const open: SharedWindow[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(each => each.stop()))
  await db.sql`delete from gateways`
})

/** A provider that counts the calls at once of all engines, and answers slowly. */
class Provider {
  readonly window: number
  most = 0
  calls = 0
  #now = 0

  constructor(window: number) {
    this.window = window
  }

  /** The connection of one more engine. */
  connect(gatewayId: number): SharedWindow {
    const channel = new CallingChannel({ window: this.window, send: () => this.#answer() })
    const shared = new SharedWindow({ sql: db.sql, log, worker: randomUUID() }, gatewayId, channel)
    open.push(shared)
    return shared
  }

  async #answer(): Promise<Sent> {
    this.most = Math.max(this.most, ++this.#now)
    this.calls++
    await new Promise(passed => setTimeout(passed, 5))
    this.#now--
    return { kind: 'accepted' }
  }
}

const messages = (count: number) => Array.from({ length: count }, (_, i): Outgoing => aMessage(String(i)))

const aMessage = (uuid: string): Outgoing => ({
  companyId: 1,
  uuid,
  channelType: 'WHATSAPP',
  senderName: 'shop',
  destination: '79160000001',
  text: 'Hello',
  parts: 1,
  attempts: 0,
})

/** Submits until the test is over, and counts the accepted messages. */
function keepBusy(channel: SharedWindow) {
  const state = { accepted: 0, isOver: false }
  const busy = (async () => {
    while (!state.isOver) {
      await channel.submit(
        messages(40),
        (_, { kind }) => {
          if (kind === 'accepted') state.accepted++
        },
        () => !state.isOver,
      )
      await new Promise(passed => setTimeout(passed, 1))
    }
  })()
  const end = () => {
    state.isOver = true
    return busy
  }
  return { state, end }
}

test('engines share the window of a gateway and never exceed it, while they join and leave', async () => {
  const { gatewayId } = await aGateway(db.sql)
  const provider = new Provider(20)
  const first = provider.connect(gatewayId)
  await eventually(() => expect(first.window).toBe(20))
  const load = [keepBusy(first)]
  const second = provider.connect(gatewayId)
  load.push(keepBusy(second))
  await eventually(() => expect([first.window, second.window]).toEqual([10, 10]))
  const third = provider.connect(gatewayId)
  load.push(keepBusy(third))
  await eventually(() => expect([first.window, second.window, third.window].sort()).toEqual([6, 6, 7]))
  for (const { state } of load) await eventually(() => expect(state.accepted).toBeGreaterThan(0))

  await second.stop()
  await eventually(() => expect([first.window, third.window]).toEqual([10, 10]))
  await Promise.all(load.map(each => each.end()))
  expect(provider.most).toBeLessThanOrEqual(20)
})

test('an engine without a share leaves the gateway to the others, and says so', async () => {
  const { gatewayId } = await aGateway(db.sql)
  const provider = new Provider(1)
  const [one, other] = [provider.connect(gatewayId), provider.connect(gatewayId)]
  await eventually(() => expect(one.window + other.window).toBe(1))
  const [withShare, without] = one.window === 1 ? [one, other] : [other, one]
  expect(withShare.health()).toMatchObject({ up: true })
  expect(without.health()).toMatchObject({ up: false, binds: { wanted: 0 } })
  const results: string[] = []
  await without.submit(
    messages(2),
    (_, { kind }) => results.push(kind),
    () => true,
  )
  expect(results).toEqual(['busy', 'busy'])
  expect(provider.calls).toBe(0)

  await withShare.stop()
  await eventually(() => expect(without.health().up).toBe(true))
})
