import { pino } from 'pino'
import { beforeAll, expect, test } from 'vitest'
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

test('receipts of a company whose node is away are acknowledged, stay in the inbox and are recorded when the node is back', async () => {
  const node = aNodeOf(db.sql)
  const sent = await sentMessages(node.sql)
  node.isAway = true
  await tell(sent, byTheirId(sent))
  expect(await db.sql`select from receipt_inbox`).toHaveLength(4)
  const match = async () => {
    await db.sql`update receipt_inbox set claimed_until = '-infinity'`
    await matchReceiptInbox({ sql: db.sql, recorder: sent.recorder })
  }
  await match()
  expect(await db.sql`select from receipt_inbox`).toHaveLength(4)

  node.isAway = false
  await eventually(async () => {
    await match()
    expect(await db.sql`select from receipt_inbox`).toHaveLength(0)
  })
  expect(await fatesOf(db.sql, sent.dispatchId)).toEqual({ SENT: 1, DELIVERED: 3 })
  await sent.recorder.stop()
})
