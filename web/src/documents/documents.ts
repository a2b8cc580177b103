import { queryOptions } from '@tanstack/react-query'
import type { DocumentsAnswer } from '../../../src/http/cabinet/senders/documents.ts'
import { ask, type Wire } from '../api.ts'
import { sortIn } from '../search-values.ts'
import { numberFormat } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'

export type CompanyDocument = Wire<DocumentsAnswer['documents'][number]>

/** The types and the size that the server accepts. */
export const DOCUMENT_TYPES = '.pdf,.jpg,.jpeg,.png,application/pdf,image/jpeg,image/png'
export const LARGEST_BYTES = 10 * 1024 * 1024

export const documentsQuery = (companyId: number) =>
  queryOptions({
    queryKey: ['documents', companyId],
    queryFn: () => ask<DocumentsAnswer>('GET', `/documents?companyId=${companyId}`),
  })

/** The URL of the file, to display it or to download it. */
export function addressOf(companyId: number, { id }: Pick<CompanyDocument, 'id'>, isDownload = false): string {
  const query = `companyId=${companyId}${isDownload ? '&download=true' : ''}`
  return new URL(`api/documents/${id}/content?${query}`, document.baseURI).href
}

/** Formats sizes: `1.4 MB`, `96 kB`. */
export function useSizes() {
  const { language } = useWords()
  const format = (unit: string, digits: number) =>
    numberFormat(locales[language], { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits })
  return (bytes: number) =>
    bytes >= 1_000_000 ? format('megabyte', 1)(bytes / 1_000_000) : format('kilobyte', 0)(Math.max(1, bytes / 1000))
}

/** `open`: the id of the document in the dialog. */
export type DocumentsSearch = { open?: string | undefined; sort?: string | undefined }

export const documentsSearchOf = (search: Record<string, unknown>): DocumentsSearch => ({
  open: typeof search.open === 'string' ? search.open : undefined,
  ...sortIn(search),
})
