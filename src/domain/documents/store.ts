import type { Sql } from '../../db/sql.ts'
import type { CompanyDocument, DocumentKind } from './document.ts'

const columns = (sql: Sql) => sql`document_id as "id", company_id as "companyId", filename, created_at as "createdAt"`

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

export function selectDocuments(sql: Sql, companyId: number) {
  return sql<CompanyDocument[]>`
    select ${columns(sql)} from company_documents where company_id = ${companyId} order by created_at, document_id`
}

export function selectContent(sql: Sql, companyId: number, id: string) {
  return sql<{ filename: string; kind: DocumentKind; content: Buffer }[]>`
    select filename, kind, content from company_documents where company_id = ${companyId} and document_id = ${id}`
}

export function countDocuments(sql: Sql, companyId: number, ids: string[]) {
  return sql<{ found: number }[]>`
    select count(*) as found from company_documents where company_id = ${companyId} and document_id = any(${ids}::uuid[])`
}
