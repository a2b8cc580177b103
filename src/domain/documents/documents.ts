import { randomUUID } from 'node:crypto'
import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import {
  type CompanyDocument,
  DOCUMENT_LIMIT_BYTES,
  type DocumentQuota,
  kindOf,
  refusalByQuota,
  usualDocumentQuota,
} from './document.ts'
import * as store from './store.ts'

export { listDocuments } from './store.ts'

/** Uploads of one partner run one after another, so that together they keep the quota. */
export async function storeDocument(
  sql: Sql,
  companyId: number,
  file: { filename: string; content: Buffer },
  quota: DocumentQuota = usualDocumentQuota,
): Promise<CompanyDocument> {
  if (file.content.length === 0) throw invalidField('file', 'is empty')
  if (file.content.length > DOCUMENT_LIMIT_BYTES) throw invalidField('file', 'must be at most 10 MB')
  const kind = kindOf(file.content)
  if (!kind) throw invalidField('file', 'must be a PDF, JPG or PNG')

  await refuseBeyondQuota(sql, companyId, file.content.length, quota)
  const [document] = await store.insertDocument(sql, companyId, { ...file, id: randomUUID(), kind })
  return document!
}

async function refuseBeyondQuota(sql: Sql, companyId: number, sizeBytes: number, quota: DocumentQuota) {
  await store.lockDocumentsOfPartner(sql, companyId)
  const [usage] = await store.selectUsage(sql, companyId)
  const refusal = refusalByQuota(usage!, sizeBytes, quota)
  if (refusal) throw invalidField('file', refusal)
}

/** Ids of documents that belong to a request for a sender name. They cannot be deleted. */
export const usedDocuments = async (sql: Sql, companyId: number): Promise<Set<string>> =>
  new Set((await store.selectUsed(sql, companyId)).map(({ id }) => id))

/** Deletes a document that belongs to no request for a sender name. Returns the deleted document. */
export async function deleteDocument(sql: Transaction, companyId: number, id: string): Promise<CompanyDocument> {
  const [document] = await store.lockDocument(sql, companyId, id)
  if (!document) throw notFound('Document')
  if ((await usedDocuments(sql, companyId)).has(document.id))
    throw invalid('A request for a sender name has this document: it cannot be deleted')
  await store.deleteDocument(sql, companyId, document.id)
  return document
}

export async function readDocument(sql: Sql, companyId: number, id: string) {
  const [document] = await store.selectContent(sql, companyId, id)
  return document
}

/** Throws if the company does not have one of these documents. */
export async function requireDocuments(sql: Sql, companyId: number, ids: string[]): Promise<void> {
  const wanted = [...new Set(ids.map(id => id.toLowerCase()))]
  if (wanted.length === 0) return
  const [row] = await store.countDocuments(sql, companyId, wanted)
  if (row!.found !== wanted.length) throw invalidField('documentIds', 'must name documents of the company')
}
