import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { invalid } from '../../base/errors.ts'
import { requireCompany } from '../../domain/companies/companies.ts'
import { type CompanyDocument, DOCUMENT_LIMIT_BYTES } from '../../domain/documents/document.ts'
import { listDocuments, storeDocument } from '../../domain/documents/documents.ts'
import { once } from '../../domain/idempotency/idempotency.ts'
import { acceptForms, allButBody, readForm } from '../bodies/forms.ts'
import type { Context } from '../context.ts'
import { IdempotencyHeader, onceOf } from '../idempotency.ts'
import { Answer, answers, ById, DateTime, Id } from '../schemas.ts'

const DocumentAnswer = Answer({
  id: Type.String({ format: 'uuid' }),
  companyId: Id,
  filename: Type.String(),
  createdAt: DateTime,
})

const tags = ['Company documents']

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
  ({ sql, limits }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    await acceptForms(api)

    api.post('/', { schema: schemas.upload, validatorCompiler: allButBody }, async (request, reply) => {
      const { companyId } = await requireCompany(sql, request.partner, request.params.id)
      const file = await fileIn(request)
      const sent = Buffer.concat([Buffer.from(`${file.filename}\n`), file.content])
      const document = await once(sql, onceOf(request, sent), async tx =>
        presentDocument(await storeDocument(tx, companyId, file, limits?.documents)),
      )
      return reply.code(201).send(document)
    })

    api.get('/', { schema: schemas.list }, async request => {
      const { companyId } = await requireCompany(sql, request.partner, request.params.id)
      return (await listDocuments(sql, companyId)).map(presentDocument)
    })
  }

/** Parts other than the file are ignored. */
async function fileIn(request: FastifyRequest): Promise<{ filename: string; content: Buffer }> {
  const parts = await readForm(request, DOCUMENT_LIMIT_BYTES)
  const file = parts.find(({ filename }) => filename !== undefined)
  if (file?.name !== 'file') throw invalid('file: is required')
  return { filename: file.filename!, content: file.content }
}

const presentDocument = ({ id, companyId, filename, createdAt }: CompanyDocument) => ({
  id,
  companyId,
  filename,
  createdAt: createdAt.toISOString(),
})
