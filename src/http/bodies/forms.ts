import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../base/errors.ts'
import { DOCUMENT_LIMIT_BYTES } from '../../domain/documents/document.ts'
import { compileValidator } from '../validation.ts'
import { MIB } from './body.ts'

/** One part of a form with its whole content. Only files have a filename. */
export type FormPart = { name: string; filename: string | undefined; content: Buffer }

const MOST_PARTS = 21
/** The limit for the fields of a form, in addition to its files. */
const FIELDS_LIMIT_BYTES = MIB

/** Makes the routes of this scope accept `multipart/form-data`. */
export const acceptForms = (api: FastifyInstance) =>
  api.register(multipart, {
    // Every part is read as bytes. The route decides which parts are text or JSON.
    isPartAFile: () => true,
    // Every part is a file, so `files` limits the parts. The parser has no listener for errors of parts beyond a
    // limit of `parts`: if the body ended within such a part, the error would end the process.
    limits: { files: MOST_PARTS, parts: Infinity, fileSize: DOCUMENT_LIMIT_BYTES },
  })

/** The validator for routes that read their body themselves: the schema of the body is only for the API reference. */
export const allButBody: typeof compileValidator = part =>
  part.httpPart === 'body' ? (Object.assign(() => true) as never) : compileValidator(part)

/** Reads the parts of a form, in their order. The rest of a refused form is read and discarded. */
export async function readForm(request: FastifyRequest, filesLimitBytes: number): Promise<FormPart[]> {
  if (!request.isMultipart()) throw invalid('Content-Type: must be multipart/form-data')
  try {
    return await partsOf(request, filesLimitBytes + FIELDS_LIMIT_BYTES)
  } catch (error) {
    request.raw.unpipe()
    request.raw.resume()
    throw refusalOf(error as FormError)
  }
}

async function partsOf(request: FastifyRequest, limitBytes: number): Promise<FormPart[]> {
  const parts: FormPart[] = []
  let sizeBytes = 0
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue
    const content = await part.toBuffer()
    sizeBytes += content.length
    if (sizeBytes > limitBytes) throw new AppError('too_large', `The form is larger than ${limitBytes / MIB} MiB`)
    parts.push({ name: part.fieldname, filename: cleanName(part.filename), content })
  }
  return parts
}

type FormError = Error & { code?: string; part?: { fieldname: string } }

function refusalOf(error: FormError): AppError {
  if (error instanceof AppError) return error
  if (error.code === 'FST_REQ_FILE_TOO_LARGE')
    return invalid(`${error.part?.fieldname ?? 'file'}: must be at most 10 MB`)
  return invalid('body: must be multipart/form-data')
}

/** The filename without a path, which some browsers add, and without characters that PostgreSQL cannot store. */
const cleanName = (filename: string | undefined) =>
  filename === undefined
    ? undefined
    : filename.split(/[\\/]/).at(-1)!.replaceAll('\0', '').toWellFormed().slice(0, 255) || 'document'
