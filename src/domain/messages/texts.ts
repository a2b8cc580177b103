import type { Sql } from '../../db/sql.ts'

/** Replaces a short link in the text and the content of a message, after the link got another code. */
export function replaceInText(sql: Sql, companyId: number, uuid: string, before: string, after: string) {
  return sql`
    update messages set text = replace(text, ${before}, ${after}),
      content = replace(content::text, ${before}, ${after})::jsonb
    where company_id = ${companyId} and message_uuid = ${uuid}`
}
