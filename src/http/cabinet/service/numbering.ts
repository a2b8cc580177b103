import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid, UsageError } from '../../../base/errors.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import { brandOf } from '../../../domain/numbering/brand.ts'
import { exportNumbering } from '../../../domain/numbering/exports.ts'
import { putVirtualOperator } from '../../../domain/numbering/imports.ts'
import { describeNumbering, type FoundNumber, lookUpNumber } from '../../../domain/numbering/state.ts'
import {
  addPiece,
  applyUpload,
  compareUpload,
  LARGEST_BYTES,
  PIECE_BYTES,
  removeUpload,
  requireUpload,
  startUpload,
  type Upload,
  waitingUploads,
} from '../../../domain/numbering/uploads.ts'
import { may } from '../../../domain/people/rights.ts'
import { Id, OneOf } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { FileSender } from '../reports/file-sender.ts'

const ByUpload = Type.Object({ uploadId: Id })
const ByPiece = Type.Object({ uploadId: Id, piece: Type.Integer({ minimum: 0, maximum: LARGEST_BYTES / PIECE_BYTES }) })
const Kind = OneOf(['register', 'ported'])
const NewUpload = Type.Object({
  kind: Kind,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  sizeBytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /**
   * True if the file is the complete list. Other numbers are then no longer ported, and other codes return to the
   * built-in plan.
   */
  replaces: Type.Boolean(),
})
const Seen = Type.Object({ version: Type.Integer() })
const BrandId = Type.Integer({ minimum: 0, maximum: 4 })
const VirtualOperator = Type.Object({
  inn: Type.String({ pattern: '^(\\d{10}|\\d{12})$' }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  brandId: BrandId,
  /** The value that the person saw. Null if it was not in the table. */
  before: Type.Union([Type.Null(), BrandId]),
})

/** Types of requests and answers, which the page imports. */
export type NewUpload = Type.Static<typeof NewUpload>
export type VirtualOperator = Type.Static<typeof VirtualOperator>
export type NumberingAnswer = Awaited<ReturnType<typeof describeNumbering>> & {
  /** Empty for a viewer without the right to change the plan. */
  uploads: Awaited<ReturnType<typeof waitingUploads>>
  pieceBytes: number
  largestBytes: number
}
export type LookupAnswer = FoundNumber
export type UploadAnswer = Omit<Upload, 'createdAt'>
export type StartedUpload = { uploadId: number }
export type { ChangeKind } from '../../../domain/numbering/difference.ts'

const OPERATORS_SHOWN = 60
/** Simultaneous exports of a person: a plan and its ported numbers. */
const EXPORTS_OF_PERSON = 2

/** The numbering plan, for staff. */
export const numberingRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    planRoutes(api, context)
    await api.register(uploadRoutes(context))
    importRoutes(api, context)
  }

/** Reads the numbering plan in use. */
function planRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, clock } = context
  const files = new FileSender(context, EXPORTS_OF_PERSON)

  api.get('/numbering', { config: { needs: 'numbering.see' } }, async ({ viewer }): Promise<NumberingAnswer> => {
    const state = await describeNumbering(sql)
    const operators = state.operators.slice(0, OPERATORS_SHOWN)
    const uploads = may(viewer, 'numbering.change') ? await waitingUploads(sql, clock()) : []
    return { ...state, operators, uploads, pieceBytes: PIECE_BYTES, largestBytes: LARGEST_BYTES }
  })

  api.get(
    '/numbering/lookup',
    {
      config: { needs: 'numbering.see' },
      schema: { querystring: Type.Object({ number: Type.String({ minLength: 1, maxLength: 40 }) }) },
    },
    ({ query }): Promise<LookupAnswer> => lookUpNumber(sql, query.number),
  )

  /** The numbering in use, as a file that can be imported again. */
  api.get(
    '/numbering/export',
    { config: { needs: 'numbering.see' }, schema: { querystring: Type.Object({ kind: Kind }) } },
    async (request, reply) => {
      const { kind } = request.query
      const { version, pieces } = await exportNumbering(sql, kind)
      const name = `${kind === 'register' ? 'numbering' : 'ported'}-v${version}`
      return files.send(request, reply, { name, format: 'csv', pieces })
    },
  )
}

/** Uploads a file in pieces. A plugin, so that other routes do not accept its type of body. */
const uploadRoutes =
  ({ sql, clock }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.addContentTypeParser(
      'application/octet-stream',
      { parseAs: 'buffer' },
      async (_: unknown, body: Buffer) => body,
    )

    api.post(
      '/numbering/uploads',
      { config: { needs: 'numbering.change' }, schema: { body: NewUpload } },
      async ({ body }, reply): Promise<StartedUpload> => {
        const uploadId = await startUpload(sql, body, clock())
        reply.code(201)
        return { uploadId }
      },
    )

    api.put(
      '/numbering/uploads/:uploadId/pieces/:piece',
      { config: { needs: 'numbering.change' }, schema: { params: ByPiece }, bodyLimit: PIECE_BYTES },
      async ({ params, body }, reply) => {
        if (!Buffer.isBuffer(body)) throw invalid('Content-Type: must be application/octet-stream')
        await addPiece(sql, params.uploadId, params.piece, body, clock())
        return reply.code(204).send()
      },
    )

    api.get(
      '/numbering/uploads/:uploadId',
      { config: { needs: 'numbering.change' }, schema: { params: ByUpload } },
      async ({ params }): Promise<UploadAnswer> => requireUpload(sql, params.uploadId, clock()),
    )
  }

/** Compares and applies an uploaded file, and sets virtual operators. */
function importRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  /** Reads the file and returns the changes that an import would make. */
  api.post(
    '/numbering/uploads/:uploadId/compare',
    { config: { needs: 'numbering.change' }, schema: { params: ByUpload } },
    ({ params }): Promise<UploadAnswer> => readable(() => compareUpload(sql, params.uploadId, clock())),
  )

  api.post(
    '/numbering/uploads/:uploadId/apply',
    { config: { needs: 'numbering.change' }, schema: { params: ByUpload, body: Seen } },
    async ({ actor, params, body }, reply) => {
      await readable(() =>
        sql.begin(async tx => {
          const { kind, name, replaces, result } = await applyUpload(sql, tx, params.uploadId, body.version, clock())
          await recordChange(tx, actor, {
            what: kind === 'register' ? 'numbering.imported' : 'ported_numbers.imported',
            subject: { kind: 'numbering', id: kind, name },
            after: { ...result, replace: replaces },
          })
        }),
      )
      return reply.code(204).send()
    },
  )

  api.delete(
    '/numbering/uploads/:uploadId',
    { config: { needs: 'numbering.change' }, schema: { params: ByUpload } },
    async ({ params }, reply) => {
      await removeUpload(sql, params.uploadId, clock())
      return reply.code(204).send()
    },
  )

  /** Sets the network of a virtual operator. Brand 0 is none of the four networks. */
  api.put(
    '/numbering/virtual-operators',
    { config: { needs: 'numbering.change' }, schema: { body: VirtualOperator } },
    async ({ actor, body }, reply) => {
      const { inn, name, brandId } = body
      await sql.begin(async tx => {
        await putVirtualOperator(tx, { inn, name, brandId }, body.before)
        await recordChange(tx, actor, {
          what: 'numbering.virtual_operator_saved',
          subject: { kind: 'operator', id: inn, name },
          ...(body.before === null ? {} : { before: { brands: brandName(body.before) } }),
          after: { brands: brandName(brandId) },
        })
      })
      return reply.code(204).send()
    },
  )
}

const brandName = (brandId: number) => brandOf(brandId) ?? 'none'

/** Turns the message that the domain writes for a terminal into a refusal for the page. */
async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof UsageError) throw invalid(error.message)
    throw error
  }
}
