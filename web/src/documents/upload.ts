import type { ListedDocument } from '../../../src/http/cabinet/senders/documents.ts'
import { NoAnswer, ServerError, type Wire } from '../api.ts'

/** An upload without progress ends after this time. A slow upload may take longer. */
const STALL_MS = 60_000

/** Uploads one file. XMLHttpRequest reports the progress; `fetch` does not. */
export function uploadDocument(companyId: number, file: File, onProgress: (share: number) => void) {
  return new Promise<Wire<ListedDocument>>((resolve, reject) => {
    const request = new XMLHttpRequest()
    const lost = () => reject(new NoAnswer('The server did not answer'))
    let stalled = setTimeout(() => request.abort(), STALL_MS)
    request.upload.onprogress = ({ loaded, total }) => {
      clearTimeout(stalled)
      stalled = setTimeout(() => request.abort(), STALL_MS)
      onProgress(total > 0 ? loaded / total : 0)
    }
    request.onerror = lost
    request.onabort = lost
    request.onload = () =>
      request.status === 201 ? resolve(JSON.parse(request.responseText)) : reject(refusalIn(request))
    request.onloadend = () => clearTimeout(stalled)
    request.open('POST', new URL(`api/documents?companyId=${companyId}`, document.baseURI))
    const form = new FormData()
    form.append('file', file)
    request.send(form)
  })
}

function refusalIn(request: XMLHttpRequest): ServerError {
  const { status, statusText } = request
  const id = request.getResponseHeader('x-request-id') ?? ''
  const response = new Response(null, { status, headers: { 'x-request-id': id } })
  return new ServerError(response, errorIn(request.responseText) ?? { code: status * 10, msg: statusText })
}

/** A proxy may answer with an HTML page instead of JSON. */
function errorIn(text: string): { code: number; msg: string } | undefined {
  try {
    return JSON.parse(text).error
  } catch {
    return undefined
  }
}
