import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { invalid, notFound } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { type CompanyDocument, DOCUMENT_LIMIT_BYTES, type DocumentKind } from '../../../domain/documents/document.ts'
import {
  deleteDocument,
  listDocuments,
  readDocument,
  storeDocument,
  usedDocuments,
} from '../../../domain/documents/documents.ts'
import { acceptForms, readForm } from '../../bodies/forms.ts'
import { Id } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'

const ByDocument = Type.Object({ documentId: Type.String({ format: 'uuid' }) })
const Content = Type.Object({ companyId: Type.Optional(Id), download: Type.Optional(Type.Boolean()) })

/** Types of answers, which the page imports. */
export type ListedDocument = ReturnType<typeof present>
/**
 * All documents of the company, at most 1,000, the newest first. A document of a request for a sender name cannot be
 * deleted.
 */
export type DocumentsAnswer = { documents: (ListedDocument & { isUsed: boolean })[] }

/** The documents of one company: PDF, JPG and PNG, as in the partner API. */
export const documentRoutes =
  ({ sql, limits }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    await acceptForms(api)

    api.get(
      '/documents',
      { config: { needs: 'settings.see' }, schema: { querystring: OfCompany } },
      async ({ viewer, query }): Promise<DocumentsAnswer> => {
        const { companyId } = await companyOf(sql, viewer, query)
        const [documents, used] = await Promise.all([listDocuments(sql, companyId), usedDocuments(sql, companyId)])
        return { documents: documents.map(one => ({ ...present(one), isUsed: used.has(one.id) })).reverse() }
      },
    )

    /** One file, in the form part `file`. */
    api.post(
      '/documents',
      { config: { needs: 'settings.change' }, schema: { querystring: OfCompany } },
      async (request, reply): Promise<ListedDocument> => {
        const { companyId } = await companyOf(sql, request.viewer, request.query)
        const file = await fileIn(request)
        const stored = await sql.begin(async tx => {
          const document = await storeDocument(tx, companyId, file, limits?.documents)
          const after = fieldsOf(document)
          await recordChange(tx, request.actor, { what: 'document.uploaded', companyId, ...subjectOf(document), after })
          return document
        })
        reply.code(201)
        return present(stored)
      },
    )

    api.get(
      '/documents/:documentId/content',
      { config: { needs: 'settings.see' }, schema: { params: ByDocument, querystring: Content } },
      async ({ viewer, params, query }, reply) => {
        const { companyId } = await companyOf(sql, viewer, query)
        const document = await readDocument(sql, companyId, params.documentId)
        if (!document) throw notFound('Document')
        return send(reply, document, query.download === true)
      },
    )

    api.delete(
      '/documents/:documentId',
      { config: { needs: 'settings.change' }, schema: { params: ByDocument, querystring: OfCompany } },
      async ({ viewer, actor, params, query }, reply) => {
        const { companyId } = await companyOf(sql, viewer, query)
        await sql.begin(async tx => {
          const document = await deleteDocument(tx, companyId, params.documentId)
          const before = fieldsOf(document)
          await recordChange(tx, actor, { what: 'document.deleted', companyId, ...subjectOf(document), before })
        })
        return reply.code(204).send()
      },
    )
  }

const subjectOf = ({ id, filename }: CompanyDocument) => ({ subject: { kind: 'document', id, name: filename } })

/** The fields that the audit log keeps. */
const fieldsOf = ({ kind, sizeBytes }: CompanyDocument) => ({ kind, sizeBytes })

async function fileIn(request: FastifyRequest): Promise<{ filename: string; content: Buffer }> {
  const file = (await readForm(request, DOCUMENT_LIMIT_BYTES)).find(({ filename }) => filename !== undefined)
  if (file?.name !== 'file') throw invalid('file: is required')
  return { filename: file.filename!, content: file.content }
}

const present = ({ id, filename, kind, sizeBytes, createdAt }: CompanyDocument) => ({
  id,
  filename,
  kind,
  sizeBytes,
  createdAt,
})

/**
 * The type comes from the first bytes of the stored file, never from its name, so that no document can run a script.
 */
const types: Record<DocumentKind, string> = { pdf: 'application/pdf', jpg: 'image/jpeg', png: 'image/png' }

function send(reply: FastifyReply, { filename, kind, content }: Sent, isDownload: boolean) {
  return reply
    .type(types[kind])
    .headers({
      'content-disposition': `${isDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${encoded(filename)}`,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    .send(content)
}

type Sent = { filename: string; kind: DocumentKind; content: Buffer }

/** The browser's viewers of PDF and pictures work in a sandbox. A document therefore has no rights of the cabinet. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'; sandbox"

/** Encodes a text for a header (RFC 5987). */
const encoded = (text: string) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
