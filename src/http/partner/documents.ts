import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { invalid } from '../../base/errors.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import { type CompanyDocument, DOCUMENT_LIMIT_BYTES } from '../../domain/documents/document.ts'
import { listDocuments, storeDocument } from '../../domain/documents/documents.ts'
import { once } from '../../domain/idempotency/idempotency.ts'
import { MIB } from '../body.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers, ById, DateTime, Id } from '../schemas.ts'
import { compileValidator } from '../validation.ts'

const DocumentAnswer = Answer({
  id: Type.String({ format: 'uuid' }),
  companyId: Id,
  filename: Type.String(),
  createdAt: DateTime,
})

const tags = ['Company documents']

/** The form around a file takes some room too. A file that is too large is told by the parts, which are read below. */
const FORM_LIMIT_BYTES = DOCUMENT_LIMIT_BYTES + MIB

const schemas = {
  upload: {
    tags,
    summary: 'Upload a document',
    description: 'A PDF, JPG or PNG file of at most 10 MB in the form part `file`.',
    consumes: ['multipart/form-data'],
    headers: IdempotencyHeader,
    params: ById,
    body: Type.Object({ file: Type.Unsafe<never>({ type: 'string', contentMediaType: 'application/octet-stream' }) }),
    response: answers(201, 'The document as it was stored', DocumentAnswer),
  },
  list: {
    tags,
    summary: 'List documents',
    params: ById,
    response: answers(200, 'The documents, oldest first', Type.Array(DocumentAnswer)),
  },
}

export const documentRoutes =
  ({ sql }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    await api.register(multipart, {
      limits: { files: 1, fields: 20, parts: 21, fieldSize: 10_000, fileSize: DOCUMENT_LIMIT_BYTES },
    })

    api.post(
      '/',
      { schema: schemas.upload, validatorCompiler: allButBody, bodyLimit: FORM_LIMIT_BYTES },
      async (request, reply) => {
        const { companyId } = await requireCompany(sql, request.partner, request.params.id)
        const file = await fileIn(request)
        const sent = Buffer.concat([Buffer.from(`${file.filename}\n`), file.content])
        const document = await once(sql, onceOf(request, sent), async tx =>
          presentDocument(await storeDocument(tx, companyId, file)),
        )
        return reply.code(201).send(document)
      },
    )

    api.get('/', { schema: schemas.list }, async request => {
      const { companyId } = await requireCompany(sql, request.partner, request.params.id)
      return (await listDocuments(sql, companyId)).map(presentDocument)
    })
  }

/** The body's schema is there for the reference; the parts themselves are read below. */
const allButBody: typeof compileValidator = part =>
  part.httpPart === 'body' ? (Object.assign(() => true) as never) : compileValidator(part)

async function fileIn(request: FastifyRequest): Promise<{ filename: string; content: Buffer }> {
  if (!request.isMultipart()) throw invalid('Content-Type: must be multipart/form-data')
  const part = await firstFile(request)
  if (part?.fieldname !== 'file') throw invalid('file: is required')
  const content = await part.toBuffer().catch(refuseUnreadable)
  return { filename: cleanName(part.filename), content }
}

const firstFile = (request: FastifyRequest) => request.file().catch(refuseUnreadable)

function refuseUnreadable(error: { code?: string }): never {
  if (error.code === 'FST_REQ_FILE_TOO_LARGE') throw invalid('file: must be at most 10 MB')
  throw invalid('body: must be multipart/form-data with one part `file`')
}

/** The name alone, without a path that some browsers send along or characters that cannot be kept. */
const cleanName = (filename: string | undefined) =>
  (filename ?? '').split(/[\\/]/).at(-1)!.replaceAll('\0', '').toWellFormed().slice(0, 255) || 'document'

const presentDocument = ({ id, companyId, filename, createdAt }: CompanyDocument) => ({
  id,
  companyId,
  filename,
  createdAt: createdAt.toISOString(),
})
