import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '../../channels/channel.ts'
import { loadNumbering } from '../../domain/numbering/numbering.ts'
import { addToReceiptInbox } from '../../domain/receipts/receipts.ts'
import { useDatabase } from '../../testing/database.ts'
import { aGateway, fatesOf } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { aNodeOf } from '../../testing/missing-node.ts'
import { aDispatch, aWorld, billingZone, someRecipients, start } from '../../testing/world.ts'
import { Recorder } from '../recording/recorder.ts'
import { byProviderId, feedOf, matchReceiptInbox } from './feed.ts'

const db = useDatabase()
const log = pino({ level: 'silent' })

beforeAll(async () => {
  await db.sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'never'; end $$`
  await db.sql`
    create trigger refuse before update on messages for each row when (old.text = 'Cursed') execute function refuse()`
})

/** Four sent messages. The database refuses every further change of the first. */
async function sentMessages(sql = db.sql) {
  const world = await aWorld(db.sql)
  const { gatewayId } = await aGateway(db.sql, { name: `sim ${world.companyId}` })
  const recorder = new Recorder({ sql, clock: () => new Date(), billingZone, log })
  const dispatchId = await aDispatch(db.sql, await loadNumbering(db.sql), world, someRecipients(4))
  await start(db.sql, world, dispatchId)
  const rows = await db.sql<
    { uuid: string }[]
  >`select message_uuid as uuid from messages where dispatch_id = ${dispatchId} order by 1`
  await Promise.all(
    rows.map(({ uuid }) =>
      recorder.note(world.companyId, { uuid, sentAt: new Date(), ids: { gatewayId, providerIds: [`id ${uuid}`] } }),
    ),
  )
  await db.sql`update messages set text = 'Cursed' where message_uuid = ${rows[0]!.uuid}`
  return { companyId: world.companyId, gatewayId, dispatchId, recorder, uuids: rows.map(({ uuid }) => uuid) }
}

type Sent = Awaited<ReturnType<typeof sentMessages>>

const receipt = (of: Receipt['of']): Receipt => ({ of, status: 'DELIVERED', happenedAt: new Date() })
const byTheirId = ({ uuids }: Sent) => uuids.map(uuid => receipt({ providerId: `id ${uuid}` }))
const byOurId = ({ uuids, companyId }: Sent) => uuids.map(uuid => receipt({ companyId, uuid }))

const tell = ({ recorder, gatewayId }: Sent, receipts: Receipt[]) =>
  feedOf({ sql: db.sql, log, recorder }, gatewayId).receipts(receipts)

test.each<[string, (sent: Sent) => Promise<void>]>([
  ["the operator's ids", sent => tell(sent, byTheirId(sent))],
  ['our own ids', sent => tell(sent, byOurId(sent))],
  [
    'ids that were unknown when the receipts came',
    async sent => {
      await addToReceiptInbox(db.sql, sent.gatewayId, byTheirId(sent).map(byProviderId))
      await matchReceiptInbox({ sql: db.sql, recorder: sent.recorder })
      expect(await db.sql`select from receipt_inbox`).toHaveLength(0)
    },
  ],
])('of receipts by %s one can never be written, and the others are recorded once', async (_, take) => {
  const sent = await sentMessages()
  await take(sent)
  expect(await fatesOf(db.sql, sent.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 })
  await sent.recorder.stop()
})

describe('while the node of a company is away', () => {
  /** A recorder for the companies of two nodes. */
  async function onTwoNodes() {
    const node = aNodeOf(db.sql)
    const [lost, other] = [await sentMessages(node.sql), await sentMessages()]
    const noteSoonFor: Recorder['noteSoonFor'] = (pending, companyId, report) =>
      (companyId === lost.companyId ? lost : other).recorder.noteSoonFor(pending, companyId, report)
    const recorder = { note: other.recorder.note, noteSoonFor }
    return { node, lost, other, recorder }
  }

  test.each([
    ["the operator's ids", byTheirId],
    ['our own ids', byOurId],
  ])('its receipts by %s are refused, all others are recorded, and its own when the node is back', async (_, of) => {
    const { node, lost, other, recorder } = await onTwoNodes()
    await db.sql`update submissions set gateway_id = ${other.gatewayId} where gateway_id = ${lost.gatewayId}`
    node.isAway = true
    const refused: number[] = []
    const batch = [...of(lost).slice(1), ...of(other)]
    const feed = feedOf({ sql: db.sql, log, recorder }, other.gatewayId)
    await feed.receipts(batch, index => refused.push(index))
    expect(refused.toSorted()).toEqual([0, 1, 2])
    expect(await fatesOf(db.sql, other.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 })
    await expect(feed.receipts(batch)).rejects.toThrow('away')

    node.isAway = false
    await eventually(async () => expect(await fatesOf(db.sql, lost.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 }))
    await Promise.all([lost.recorder.stop(), other.recorder.stop()])
  })

  test('its receipts stay in the inbox, and all others are recorded', async () => {
    const { node, lost, other, recorder } = await onTwoNodes()
    const receipts = (sent: Sent) => byTheirId(sent).slice(1).map(byProviderId)
    await addToReceiptInbox(db.sql, lost.gatewayId, receipts(lost))
    await addToReceiptInbox(db.sql, other.gatewayId, receipts(other))
    node.isAway = true
    await matchReceiptInbox({ sql: db.sql, recorder })
    expect(await fatesOf(db.sql, other.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 })
    const kept = await db.sql`select gateway_id, count(*)::int as count from receipt_inbox group by gateway_id`
    expect(kept).toEqual([{ gatewayId: lost.gatewayId, count: 3 }])

    node.isAway = false
    await eventually(async () => {
      await matchReceiptInbox({ sql: db.sql, recorder })
      expect(await db.sql`select from receipt_inbox`).toHaveLength(0)
    })
    expect(await fatesOf(db.sql, lost.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 })
    await Promise.all([lost.recorder.stop(), other.recorder.stop()])
  })
})
