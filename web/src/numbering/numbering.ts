import { queryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type {
  LookupAnswer,
  NumberingAnswer,
  StartedUpload,
  UploadAnswer,
} from '../../../src/http/cabinet/service/numbering.ts'
import { ask, NoAnswer, type Wire } from '../api.ts'
import type { NumberingSearch } from './search.ts'

export type Numbering = Wire<NumberingAnswer>
export type Found = Wire<LookupAnswer>
export type Upload = Wire<UploadAnswer>
export type Difference = NonNullable<Upload['difference']>
export type SourceKind = Upload['kind']

export const NUMBERING = ['numbering'] as const
/** The server needs time to read a large file. */
const LONG_MS = 300_000

export function useNumberingSearch() {
  const { number, upload } = useSearch({ from: '/shell/numbering' })
  const navigate = useNavigate()
  const change = (changed: NumberingSearch) =>
    void navigate({ to: '.', search: before => ({ ...before, ...changed }), replace: true })
  return { number, upload, change }
}

export const numberingQuery = queryOptions({
  queryKey: [...NUMBERING, 'state'],
  queryFn: () => ask<NumberingAnswer>('GET', '/numbering'),
})

export const lookupQuery = (number: string) =>
  queryOptions({
    queryKey: [...NUMBERING, 'lookup', number],
    queryFn: () => ask<LookupAnswer>('GET', `/numbering/lookup?${new URLSearchParams({ number })}`),
  })

export const uploadQuery = (uploadId: number) =>
  queryOptions({
    queryKey: [...NUMBERING, 'upload', uploadId],
    queryFn: () => ask<UploadAnswer>('GET', `/numbering/uploads/${uploadId}`),
  })

/** The URL of the present plan as a file that can be imported again. */
export const exportAddress = (kind: SourceKind) => new URL(`api/numbering/export?kind=${kind}`, document.baseURI).href

export const compareUpload = (uploadId: number) =>
  ask<UploadAnswer>('POST', `/numbering/uploads/${uploadId}/compare`, undefined, undefined, LONG_MS)

export const applyUpload = (uploadId: number, version: number) =>
  ask<void>('POST', `/numbering/uploads/${uploadId}/apply`, { version }, undefined, LONG_MS)

export const removeUpload = (uploadId: number) => ask<void>('DELETE', `/numbering/uploads/${uploadId}`)

const MOST_TRIES = 3

/** Sends a file in pieces. A piece without an answer is sent again. */
export async function sendFile(
  file: File,
  { kind, replaces, pieceBytes }: { kind: SourceKind; replaces: boolean; pieceBytes: number },
  onSent: (share: number) => void,
): Promise<number> {
  const started = { kind, name: file.name, sizeBytes: file.size, replaces }
  const { uploadId } = await ask<StartedUpload>('POST', '/numbering/uploads', started)
  for (let piece = 0; piece * pieceBytes < file.size; piece += 1) {
    const content = file.slice(piece * pieceBytes, (piece + 1) * pieceBytes)
    await sendPiece(`/numbering/uploads/${uploadId}/pieces/${piece}`, content, MOST_TRIES)
    onSent(Math.min(1, ((piece + 1) * pieceBytes) / file.size))
  }
  return uploadId
}

async function sendPiece(path: string, content: Blob, tries: number): Promise<void> {
  try {
    await ask<void>('PUT', path, content)
  } catch (error) {
    if (tries <= 1 || !(error instanceof NoAnswer)) throw error
    await sendPiece(path, content, tries - 1)
  }
}
