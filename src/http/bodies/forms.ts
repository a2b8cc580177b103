import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../base/errors.ts'
import { DOCUMENT_LIMIT_BYTES } from '../../domain/documents/document.ts'
import { compileValidator } from '../validation.ts'
import { MIB } from './body.ts'

/** One part of a form with its whole content. Only files have a filename. */
export type FormPart = { name: string; filename: string | undefined; content: Buffer }

const MOST_PARTS = 21
/** The limit for all of a form except its files: fields, heads of parts, boundaries. */
const REST_LIMIT_BYTES = MIB

/** Makes the routes of this scope accept `multipart/form-data`. */
export const acceptForms = (api: FastifyInstance) =>
  api.register(multipart, {
    // Every part is read as bytes. The route decides which parts are text or JSON.
    isPartAFile: () => true,
    // Every part is a file, so `files` limits the parts. The parser has no listener for errors of parts beyond a
    // limit of `parts`: if the body ended within such a part, the error would end the process.
    limits: { files: MOST_PARTS, parts: Infinity, fileSize: Infinity },
  })

/** The validator for routes that read their body themselves: the schema of the body is only for the API reference. */
export const allButBody: typeof compileValidator = part =>
  part.httpPart === 'body' ? (Object.assign(() => true) as never) : compileValidator(part)

/** Reads the parts of a form, in their order. The rest of a refused form is read and discarded. */
export async function readForm(request: FastifyRequest, filesLimitBytes: number): Promise<FormPart[]> {
  if (!request.isMultipart()) throw invalid('Content-Type: must be multipart/form-data')
  const limit = limitBytes(request, filesLimitBytes + REST_LIMIT_BYTES)
  try {
    const parts = await Promise.race([partsOf(request), limit.exceeded])
    limit.refuseExceeded()
    return parts
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw error instanceof AppError ? error : invalid('body: must be multipart/form-data')
  } finally {
    limit.stop()
  }
}

/**
 * Counts the bytes as they arrive. The parser gives no part to its caller while a form has only parts without a name, so
 * the content of the parts says nothing about the size of the form.
 */
function limitBytes({ raw }: FastifyRequest, mostBytes: number) {
  const tooLarge = new AppError('too_large', `The form is larger than ${mostBytes / MIB} MiB`)
  const { promise: exceeded, reject } = Promise.withResolvers<never>()
  let sizeBytes = 0
  const count = (chunk: Buffer) => {
    sizeBytes += chunk.length
    // Not at once: the same bytes may contain a file that is too large, and the answer should name the file.
    if (sizeBytes > mostBytes) setImmediate(reject, tooLarge)
  }
  raw.on('data', count)
  const refuseExceeded = () => {
    if (sizeBytes > mostBytes) throw tooLarge
  }
  return { exceeded, refuseExceeded, stop: () => raw.off('data', count) }
}

async function partsOf(request: FastifyRequest): Promise<FormPart[]> {
  const parts: FormPart[] = []
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue
    parts.push({ name: part.fieldname, filename: cleanName(part.filename), content: await contentOf(part) })
  }
  return parts
}

/** The parser's own limit for a file would read the rest of the file before it reports the error. */
async function contentOf({ fieldname, file }: MultipartFile): Promise<Buffer> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of file) {
    sizeBytes += chunk.length
    if (sizeBytes > DOCUMENT_LIMIT_BYTES) throw invalid(`${fieldname ?? 'file'}: must be at most 10 MB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The filename without a path, which some browsers add, and without characters that PostgreSQL cannot store. */
const cleanName = (filename: string | undefined) =>
  filename === undefined
    ? undefined
    : filename.split(/[\\/]/).at(-1)!.replaceAll('\0', '').toWellFormed().slice(0, 255) || 'document'
