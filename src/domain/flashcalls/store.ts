import type { ChannelType } from '../../base/channel-types.ts'
import type { Sql } from '../../db/sql.ts'
import type { FlashcallReport } from './flashcall.ts'

/** A message of a dispatch has the dispatch's channel, unless it has one of its own. */
export function selectChannel(sql: Sql, companyId: number, uuid: string) {
  return sql<{ channelType: ChannelType | null }[]>`
    select coalesce(m.channel_type, d.channel_type) as channel_type
    from messages m left join dispatches d on d.company_id = m.company_id and d.dispatch_id = m.dispatch_id
    where m.company_id = ${companyId} and m.message_uuid = ${uuid}`
}

/** One row a call. A right code is the last word: it replaces a wrong one, and nothing replaces it. */
export function upsertResult(sql: Sql, companyId: number, { uuid, result, code }: FlashcallReport, now: Date) {
  return sql`
    insert into flashcall_results (company_id, message_uuid, result, code, reported_at)
    values (${companyId}, ${uuid}, ${result}, ${code ?? null}, ${now})
    on conflict (company_id, message_uuid) do update set
      result = excluded.result, code = excluded.code, reported_at = excluded.reported_at
    where flashcall_results.result = 'WRONG_CODE' and excluded.result = 'NUMBER_VERIFIED'`
}

export const deleteCodes = (sql: Sql, companyId: number, uuids: string[]) => sql`
  update flashcall_results set code = null
  where company_id = ${companyId} and message_uuid = any(${uuids}::uuid[]) and code is not null`
