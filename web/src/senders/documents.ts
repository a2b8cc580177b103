import { queryOptions } from '@tanstack/react-query'
import type { DocumentsAnswer, ListedDocument } from '../../../src/http/cabinet/senders/documents.ts'
import { ask, NoAnswer, ServerError, type Wire } from '../api.ts'

export type StoredDocument = Pick<Wire<ListedDocument>, 'id' | 'filename' | 'kind'>

export const DOCUMENTS = ['documents'] as const

export const documentsQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...DOCUMENTS, companyId],
    queryFn: () => ask<DocumentsAnswer>('GET', `/documents?companyId=${companyId}`),
  })

/** The address of a document, to show or to download it. */
export const addressOf = (companyId: number, { id }: Pick<StoredDocument, 'id'>, isDownload = false) =>
  new URL(`api/documents/${id}/content?companyId=${companyId}${isDownload ? '&download=true' : ''}`, document.baseURI)
    .href

/** Enough for a file of 10 MB on a slow connection. */
const UPLOAD_TIMEOUT_MS = 120_000

export async function uploadDocument(companyId: number, file: File): Promise<Wire<ListedDocument>> {
  const body = new FormData()
  body.append('file', file)
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS)
  const response = await fetch(new URL(`api/documents?companyId=${companyId}`, document.baseURI), {
    method: 'POST',
    body,
    signal,
  }).catch(cause => {
    throw new NoAnswer('The server did not answer', { cause })
  })
  const answer = await response.json().catch(() => undefined)
  if (response.ok) return answer
  throw new ServerError(response, answer?.error ?? { code: response.status * 10, msg: response.statusText })
}
