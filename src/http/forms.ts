import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../base/errors.ts'
import { DOCUMENT_LIMIT_BYTES } from '../domain/documents/document.ts'
import { MIB } from './body.ts'
import { compileValidator } from './validation.ts'

/** One part of a form, read to its end. Only files have a name of their own. */
export type FormPart = { name: string; filename: string | undefined; content: Buffer }

const MOST_PARTS = 21
/** Room for the fields beside the files, whatever they are. */
const FIELDS_LIMIT_BYTES = MIB

/** Lets this scope take `multipart/form-data`. */
export const acceptForms = (api: FastifyInstance) =>
  api.register(multipart, {
    // Every part is read as bytes: what is text, and what is JSON, is for the route to say.
    isPartAFile: () => true,
    limits: { files: MOST_PARTS, parts: MOST_PARTS, fileSize: DOCUMENT_LIMIT_BYTES },
  })

/** For routes that read their body themselves: its schema is there for the reference alone. */
export const allButBody: typeof compileValidator = part =>
  part.httpPart === 'body' ? (Object.assign(() => true) as never) : compileValidator(part)

/** The parts of a form, in their order. What is left of a form that is refused is thrown away as it arrives. */
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

/** The name alone, without a path that some browsers send along or characters that cannot be kept. */
const cleanName = (filename: string | undefined) =>
  filename === undefined
    ? undefined
    : filename.split(/[\\/]/).at(-1)!.replaceAll('\0', '').toWellFormed().slice(0, 255) || 'document'
