import { expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { nodeAway } from '../../testing/missing-node.ts'
import { aDispatch, aWorld, someRecipients } from '../../testing/world.ts'
import { loadNumbering } from '../numbering/numbering.ts'
import { endDueLanes } from './ending.ts'

const db = useDatabase()

test('a lane that another transaction has locked is skipped and ended the next time, and the others are ended now', async () => {
  const numbering = await loadNumbering(db.sql)
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
  await db.sql`update lanes set end_at = now() - interval '1 second' where dispatch_id = ${dispatchId}`
  const [locked, ...others] = await db.sql`
    select lane_id, tail from lanes where dispatch_id = ${dispatchId} and tail > 0 order by lane_id`
  const refused: string[] = []
  const end = () => endDueLanes(db.sql, new Date(), async (_, uuids) => void refused.push(...uuids))

  await db.sql.begin(async sql => {
    await sql`select from lanes where company_id = ${world.companyId} and lane_id = ${locked!.laneId} for update`
    await end()
  })
  expect(refused).toHaveLength(others.reduce((sum, { tail }) => sum + tail, 0))
  await end()
  expect(new Set(refused).size).toBe(8)
})

test('after the first lane of a company whose node is away, its other lanes are left out, and other companies go on', async () => {
  const numbering = await loadNumbering(db.sql)
  const [lost, other] = [await aWorld(db.sql), await aWorld(db.sql)]
  for (const world of [lost, other]) await aDispatch(db.sql, numbering, world, someRecipients(8))
  await db.sql`update lanes set end_at = now() - interval '1 second' where company_id in (${lost.companyId}, ${other.companyId})`
  const asked: number[] = []
  await endDueLanes(db.sql, new Date(), async companyId => {
    asked.push(companyId)
    if (companyId === lost.companyId) throw nodeAway()
  })
  expect(asked.filter(companyId => companyId === lost.companyId)).toHaveLength(1)
  expect(asked.filter(companyId => companyId === other.companyId)).toHaveLength(4)
})
