import type { Sql } from '../../db/sql.ts'
import type { CompanyDocument, DocumentKind, DocumentUsage } from './document.ts'

/** The size is read without the content, which is stored outside the row and not compressed. */
const columns = (sql: Sql) => sql`
  document_id as "id", company_id, filename, kind, octet_length(content) as size_bytes,
  created_at`

export function insertDocument(
  sql: Sql,
  companyId: number,
  document: { id: string; filename: string; kind: DocumentKind; content: Buffer },
) {
  return sql<CompanyDocument[]>`
    insert into company_documents (company_id, document_id, filename, kind, content)
    values (${companyId}, ${document.id}, ${document.filename}, ${document.kind}, ${document.content})
    returning ${columns(sql)}`
}

/** Locks the quota of a partner until the transaction ends. */
export function lockDocumentsOfPartner(sql: Sql, companyId: number) {
  return sql`
    select pg_advisory_xact_lock(hashtextextended('documents of partner ' || partner_id, 0))
    from companies where company_id = ${companyId}`
}

/** Counts every time, so that no stored counter can be wrong. Reads sizes without contents. */
export function selectUsage(sql: Sql, companyId: number) {
  return sql<DocumentUsage[]>`
    select
      count(*) filter (where company_id = ${companyId}) as company_count,
      coalesce(sum(octet_length(content)) filter (where company_id = ${companyId}), 0)::bigint as company_bytes,
      count(*) as partner_count,
      coalesce(sum(octet_length(content)), 0)::bigint as partner_bytes
    from company_documents
    where company_id in (
      select company_id from companies
      where partner_id = (select partner_id from companies where company_id = ${companyId}))`
}

export function listDocuments(sql: Sql, companyId: number) {
  return sql<CompanyDocument[]>`
    select ${columns(sql)} from company_documents where company_id = ${companyId} order by created_at, document_id`
}

export function selectContent(sql: Sql, companyId: number, id: string) {
  return sql<{ filename: string; kind: DocumentKind; content: Buffer }[]>`
    select filename, kind, content from company_documents where company_id = ${companyId} and document_id = ${id}`
}

/** Prevents their deletion until the transaction ends. */
export function countDocuments(sql: Sql, companyId: number, ids: string[]) {
  return sql<{ found: number }[]>`
    select count(*) as found from (
      select from company_documents where company_id = ${companyId} and document_id = any(${ids}::uuid[])
      for key share) named`
}

/** Waits for transactions that are about to use the document. */
export const lockDocument = (sql: Sql, companyId: number, id: string) =>
  sql<CompanyDocument[]>`
    select ${columns(sql)} from company_documents where company_id = ${companyId} and document_id = ${id} for update`

/** Documents that belong to a request for a sender name. */
export const selectUsed = (sql: Sql, companyId: number) =>
  sql<{ id: string }[]>`select distinct unnest(document_ids) as id from senders where company_id = ${companyId}`

export const deleteDocument = (sql: Sql, companyId: number, id: string) =>
  sql`delete from company_documents where company_id = ${companyId} and document_id = ${id}`
