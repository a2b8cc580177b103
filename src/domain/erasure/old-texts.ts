import { byCompany } from '../../db/by-company.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { removeInboundTextsOfEvents } from '../callbacks/callbacks.ts'
import { forgetOldRequests } from '../cascades/cascades.ts'
import { removeInboundTexts } from '../inbound/inbound.ts'
import { type KeyRange, removeTexts, uuidFloor } from '../messages/texts.ts'
import * as leftovers from './old-texts-store.ts'
import * as store from './text-store.ts'

const BATCH = 1000
const COMPANIES = 1000
const DAY_MS = 24 * 3600_000

type Limits = { mostMs?: number; isStopping?: () => boolean }
type Removal = { pool: Pool; beforeUuid: string; now: Date; isOver: () => boolean }

/**
 * Removes the texts of messages that are older than some days, in batches of 1,000 rows. Each company gets one batch in turn.
 * A message that is not final keeps its text, because it may still be sent; it is checked again every day. The time of one
 * call is limited: the next continues.
 */
export async function removeOldTexts(
  pool: Pool,
  days: number,
  now: Date,
  { mostMs = 5 * 60_000, isStopping = () => false }: Limits = {},
): Promise<void> {
  const endsAt = performance.now() + mostMs
  const isOver = () => isStopping() || performance.now() >= endsAt
  const removal = { pool, beforeUuid: uuidFloor(new Date(now.getTime() - days * DAY_MS)), now, isOver }
  while (!isOver() && (await removeInTurn(removal)) > 0);
  while (!isOver() && (await checkLeftovers(removal)) > 0);
}

/** Returns how many batches were done. A company that another engine works on is left out. */
async function removeInTurn(removal: Removal): Promise<number> {
  const behind = await leftovers.selectBehind(removal.pool, removal.beforeUuid, COMPANIES)
  return (await byCompany(behind, companyId => removeBatch(removal, companyId), 1)).length
}

async function removeBatch({ pool, beforeUuid, now, isOver }: Removal, companyId: number): Promise<KeyRange[]> {
  if (isOver()) return []
  await store.ensurePlace(pool, companyId)
  return pool.begin(async sql => {
    const [place] = await store.lockPlace(sql, companyId)
    if (!place || place.doneUuid >= beforeUuid) return []
    const after = place.doneUuid
    const until = (await leftovers.lastKeyOf(sql, companyId, { after, before: beforeUuid }, BATCH)) ?? beforeUuid
    const isDone = await removeBetween(sql, companyId, { after, until })
    if (!isDone) await leftovers.insertLeftover(sql, companyId, { after, until }, nextDay(now))
    await store.movePlace(sql, companyId, until)
    return [{ after, until }]
  })
}

/** Returns whether all texts are removed. The steps of a cascade have no text that is needed after it. */
async function removeBetween(sql: Transaction, companyId: number, keys: KeyRange): Promise<boolean> {
  await removeTexts(sql, companyId, keys)
  await removeInboundTexts(sql, companyId, keys)
  await forgetOldRequests(sql, companyId, keys)
  await removeInboundTextsOfEvents(sql, companyId, keys)
  return (await leftovers.selectUnfinished(sql, companyId, keys)).length === 0
}

const nextDay = (now: Date) => new Date(now.getTime() + DAY_MS)

/** Returns how many batches with messages that were not final were checked again. */
async function checkLeftovers({ pool, now, isOver }: Removal): Promise<number> {
  const due = await leftovers.selectLeftovers(pool, now, COMPANIES)
  const checked = await byCompany(
    due,
    async (_, own) => {
      const done: leftovers.Leftover[] = []
      for (const leftover of own) if (!isOver() && (await checkLeftover(pool, leftover, now))) done.push(leftover)
      return done
    },
    1,
  )
  return checked.length
}

/** Returns false if another engine has it. */
function checkLeftover(pool: Pool, leftover: leftovers.Leftover, now: Date): Promise<boolean> {
  return pool.begin(async sql => {
    if ((await leftovers.lockLeftover(sql, leftover, now)).length === 0) return false
    const isDone = await removeBetween(sql, leftover.companyId, leftover)
    if (isDone) await leftovers.deleteLeftover(sql, leftover)
    else await leftovers.delayLeftover(sql, leftover, nextDay(now))
    return true
  })
}

/** Whether some messages of the month (such as `2026-05`) keep texts that will be removed. */
export async function hasTextsToRemove(sql: Sql, month: string): Promise<boolean> {
  const first = new Date(`${month}-01T00:00:00Z`)
  const after = uuidFloor(first)
  const until = uuidFloor(new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1)))
  const behind = await leftovers.selectBehind(sql, until, 1)
  return behind.length > 0 || (await leftovers.selectLeftIn(sql, { after, until })).length > 0
}
