import { everyCompany } from '../../db/by-company.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { removeInboundTextsOfEvents } from '../callbacks/callbacks.ts'
import { forgetOldRequests } from '../cascades/cascades.ts'
import { removeInboundTexts } from '../inbound/inbound.ts'
import { lastKeyOf, removeTexts, uuidFloor } from '../messages/texts.ts'
import * as store from './text-store.ts'

const BATCH = 1000
const DAY_MS = 24 * 3600_000

/**
 * Removes the texts of messages that are older than some days, company by company, in batches of 1,000 messages. A message
 * that is not final keeps its text, because it may still be sent. The time of one call is limited: the next continues.
 */
export async function removeOldTexts(pool: Pool, days: number, now: Date, mostMs = 5 * 60_000): Promise<void> {
  const endsAt = performance.now() + mostMs
  const beforeUuid = uuidFloor(new Date(now.getTime() - days * DAY_MS))
  await everyCompany(pool, async companyId => {
    await store.ensurePlace(pool, companyId)
    while (performance.now() < endsAt && (await removeBatch(pool, companyId, beforeUuid)));
  })
}

/** Whether there is more to do. */
function removeBatch(pool: Pool, companyId: number, beforeUuid: string): Promise<boolean> {
  return pool.begin(async sql => {
    const [place] = await store.lockPlace(sql, companyId)
    if (!place || place.doneUuid >= beforeUuid) return false
    const last = await lastKeyOf(sql, companyId, { after: place.doneUuid, before: beforeUuid }, BATCH)
    await removeBetween(sql, companyId, { after: place.doneUuid, until: last ?? beforeUuid })
    await store.movePlace(sql, companyId, last ?? beforeUuid)
    return last !== undefined
  })
}

/** Callbacks and cascades have no text that is needed after a day. */
async function removeBetween(sql: Transaction, companyId: number, keys: { after: string; until: string }) {
  await removeTexts(sql, companyId, keys)
  await removeInboundTexts(sql, companyId, keys)
  await forgetOldRequests(sql, companyId, keys)
  await removeInboundTextsOfEvents(sql, companyId, keys)
}
