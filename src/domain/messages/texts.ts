import type { Sql } from '../../db/sql.ts'
import { REMOVED } from './message.ts'

/** Replaces a short link in the text and the content of a message, after the link got another code. */
export function replaceInText(sql: Sql, companyId: number, uuid: string, before: string, after: string) {
  return sql`
    update messages set text = replace(text, ${before}, ${after}),
      content = replace(content::text, ${before}, ${after})::jsonb
    where company_id = ${companyId} and message_uuid = ${uuid}`
}

/** The smallest key of a moment, as the function of the database makes it. */
export const uuidFloor = (moment: Date): string =>
  moment
    .getTime()
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')
    .concat('-0000-0000-000000000000')

/** Keys of messages: above `after`, up to `until`. */
export type KeyRange = { after: string; until: string }

/** Removes the texts of final messages. Their parts and prices stay. */
export const removeTexts = (sql: Sql, companyId: number, { after, until }: KeyRange) => sql`
  update messages set text = case when text is null then null else ${REMOVED}::text end, content = null, sealed = null
  where company_id = ${companyId} and message_uuid > ${after} and message_uuid <= ${until}
    and status in ('DELIVERED', 'FAILED') and (text <> ${REMOVED}::text or content is not null or sealed is not null)`
