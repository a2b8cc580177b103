import { invalidField, notFound } from '../../base/errors.ts'
import type { Sql } from '../../db/sql.ts'
import type { FlashcallReport } from './flashcall.ts'
import * as store from './store.ts'

/** Stores the result of a flash call that the client reports. A repeated report changes nothing. */
export async function reportFlashcall(sql: Sql, companyId: number, report: FlashcallReport, now: Date): Promise<void> {
  const [message] = await store.selectChannel(sql, companyId, report.uuid)
  if (!message) throw notFound('Message')
  if (message.channelType !== 'FLASHCALL') throw invalidField('messageUuid', 'must be a message of FLASHCALL')

  await store.upsertResult(sql, companyId, report, now)
}

/** Removes the codes that subscribers typed. The results stay. */
export const forgetFlashcallCodes = (sql: Sql, companyId: number, uuids: string[]) =>
  store.deleteCodes(sql, companyId, uuids)
