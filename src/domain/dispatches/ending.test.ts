import { expect, test } from 'vitest'
import { useDatabase } from '../../testing/database.ts'
import { aDispatch, aWorld, someRecipients } from '../../testing/world.ts'
import { loadNumbering } from '../numbering/numbering.ts'
import { endDueLanes } from './ending.ts'

const db = useDatabase()

test('a lane that another transaction has locked is skipped and ended the next time, and the others are ended now', async () => {
  const numbering = await loadNumbering(db.sql)
  const world = await aWorld(db.sql)
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(8))
  await db.sql`update lanes set end_at = now() where dispatch_id = ${dispatchId}`
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
