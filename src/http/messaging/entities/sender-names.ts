import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { channelTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import type { Transaction } from '../../../db/sql.ts'
import type { DocumentQuota } from '../../../domain/documents/document.ts'
import { DOCUMENT_LIMIT_BYTES, kindOf } from '../../../domain/documents/document.ts'
import { storeDocument } from '../../../domain/documents/documents.ts'
import { once } from '../../../domain/idempotency/idempotency.ts'
import { brands } from '../../../domain/numbering/brand.ts'
import { reviewStatuses } from '../../../domain/review/review.ts'
import { type NewSender, refuseBadViberName, type Sender } from '../../../domain/senders/sender.ts'
import {
  createSender,
  hasDocuments,
  pageOfSenders,
  requireSender,
  updateSender,
} from '../../../domain/senders/senders.ts'
import { acceptForms, allButBody, type FormPart, readForm } from '../../bodies/forms.ts'
import type { Context } from '../../context.ts'
import { IdempotencyHeader, onceOf } from '../../idempotency.ts'
import { parseJson } from '../../json/parse.ts'
import { Answer, answers, ById, Page, PerPage, SomeOf } from '../../schemas.ts'
import {
  CountryCode,
  newSenderFields,
  presentSender,
  readNewSender,
  readSenderChange,
  SenderAnswer,
  SenderChangeBody,
} from '../../senders.ts'
import { compileValidator, validationMessage } from '../../validation.ts'
import { Maybe } from '../messages/message-request.ts'

const NewSenderName = Type.Object({
  ...newSenderFields,
  countryId: Maybe(newSenderFields.countryId),
  description: Maybe(newSenderFields.description),
  documentIds: Maybe(newSenderFields.documentIds),
})

/** All fields but `dateTo` may be null. A closing date cannot be removed, so null is a mistake there. */
const changes = SenderChangeBody.properties
const SenderNameChange = Type.Object({
  senderName: Maybe(changes.senderName),
  commonType: Maybe(changes.commonType),
  dateFrom: Maybe(changes.dateFrom),
  dateTo: changes.dateTo,
  documentIds: Maybe(changes.documentIds),
})

const MOST_FILES = 10
const FILES_LIMIT_BYTES = 2 * DOCUMENT_LIMIT_BYTES

const File = Type.Unsafe<never>({ type: 'string', contentMediaType: 'application/octet-stream' })
const Form = Type.Object({ body: NewSenderName, file1: Type.Optional(File), file2: Type.Optional(File) })

const SenderFilter = Type.Object({
  page: Page,
  per_page: PerPage(100),
  channel_type: SomeOf(channelTypes),
  country_code: Type.Optional(Type.Array(CountryCode)),
  status: SomeOf(reviewStatuses),
  brand: SomeOf(brands),
})

const tags = ['Sender names']
const response = answers(200, 'The sender name as it is now', SenderAnswer)

const schemas = {
  create: {
    tags,
    summary: 'Register a sender name',
    description:
      'A form with the JSON in the part `body` and up to 10 files (PDF, JPG or PNG, at most 10 MB each and 20 MB together) in ' +
      '`file1`, `file2` and so on; they become documents of the company. Without files, the JSON alone. A name of the ' +
      'type PROMO needs a file, or `documentIds`.',
    headers: IdempotencyHeader,
    body: { content: { 'multipart/form-data': { schema: Form }, 'application/json': { schema: NewSenderName } } },
    response: answers(201, 'The sender name was registered', SenderAnswer),
  },
  list: {
    tags,
    summary: 'List sender names',
    description: 'The filters may be repeated.',
    querystring: SenderFilter,
    response: answers(
      200,
      'A page of the sender names that the filters leave, oldest first',
      Answer({ total: Type.Integer(), items: Type.Array(SenderAnswer) }),
    ),
  },
  get: { tags, summary: 'Read a sender name', params: ById, response },
  update: { tags, summary: 'Change or close a sender name', params: ById, body: SenderNameChange, response },
}

export const senderNameRoutes =
  ({ sql, clock, limits }: Context): FastifyPluginAsyncTypebox =>
  async api => {
    await acceptForms(api)

    api.post(
      '/sender-names',
      { schema: schemas.create, validatorCompiler: allButBody },
      async (request: FastifyRequest, reply) => {
        const { companyId } = request.caller
        const { sender, files, sent } = await readRequest(request)
        const created = await once(sql, onceOf(request, sent), async tx => {
          const documentIds = [...sender.documentIds, ...(await storeFiles(tx, companyId, files, limits?.documents))]
          return presentSender(await createSender(tx, companyId, { ...sender, documentIds }))
        })
        return reply.code(201).send(created)
      },
    )

    api.get('/sender-names', { schema: schemas.list }, async ({ caller, query }) => {
      const { page, per_page: perPage, channel_type: channelType, country_code: countryCode, ...same } = query
      const filter = { ...same, ...(channelType ? { channelType } : {}), ...(countryCode ? { countryCode } : {}) }
      const { total, items } = await pageOfSenders(sql, caller.companyId, filter, { page, perPage })
      return { total, items: items.map(presentSender) }
    })

    api.get('/sender-names/:id', { schema: schemas.get }, async ({ caller, params }) =>
      presentSender(await requireSender(sql, caller.companyId, params.id)),
    )

    api.put('/sender-names/:id', { schema: schemas.update }, async ({ caller, params, body }) => {
      const sender = await requireSender(sql, caller.companyId, params.id)
      const change = readSenderChange(withoutNulls(body))
      const changed = { ...sender, ...change }
      if (change.senderName !== undefined) refuseBadName(changed)
      if (change.commonType ?? change.documentIds) {
        refuseUndocumented(
          changed,
          change.documentIds ? change.documentIds.length > 0 : await hasDocuments(sql, sender),
        )
      }
      return presentSender(await updateSender(sql, sender, change, clock(), 'company'))
    })
  }

type NewSenderRequest = {
  sender: NewSender
  files: FormPart[]
  /** The request as bytes that are the same for a repeated request. */
  sent: Buffer | undefined
}

async function readRequest(request: FastifyRequest): Promise<NewSenderRequest> {
  const { json, files, sent } = request.isMultipart() ? await readParts(request) : readBody(request)
  const sender = readNewSender(withoutNulls(checked(json)))
  refuseBadName(sender)
  refuseUndocumented(sender, files.length + sender.documentIds.length > 0)
  return { sender, files, sent }
}

const readBody = (request: FastifyRequest) => ({ json: request.body, files: [], sent: request.rawBody })

async function readParts(request: FastifyRequest) {
  const parts = await readForm(request, FILES_LIMIT_BYTES)
  const [body, ...more] = parts.filter(({ name }) => name === 'body')
  if (!body) throw invalid('body: is required')
  if (more.length > 0) throw invalid('body: must stand in the form once')
  const files = parts.filter(({ name, filename }) => name !== 'body' && (filename !== undefined || FILE.test(name)))
  for (const file of files) refuseBadFile(file)
  if (files.length > MOST_FILES) throw invalid(`file${MOST_FILES + 1}: must be at most ${MOST_FILES} files`)
  return { json: await parseJson(body.content), files, sent: bytesOf(body, ...files) }
}

const FILE = /^file\d*$/

function refuseBadFile({ name, filename, content }: FormPart) {
  if (!FILE.test(name)) throw invalid(`${name}: files go into the parts file1, file2 and so on`)
  if (filename === undefined) throw invalid(`${name}: must be a file`)
  if (content.length === 0) throw invalid(`${name}: is empty`)
  if (!kindOf(content)) throw invalid(`${name}: must be a PDF, JPG or PNG`)
}

/** The parts of a form as bytes. The boundaries differ in each repetition of a request, the parts do not. */
const bytesOf = (...parts: FormPart[]) =>
  Buffer.concat(
    parts.flatMap(({ name, filename = '', content }) => [
      Buffer.from(`${JSON.stringify([name, filename, content.length])}\n`),
      content,
    ]),
  )

const isNewSenderName = compileValidator({ schema: NewSenderName as never, httpPart: 'body' })

function checked(json: unknown): Static<typeof NewSenderName> {
  if (!isNewSenderName(json)) throw invalid(validationMessage(isNewSenderName.errors as never, 'body'))
  return json as Static<typeof NewSenderName>
}

/** Removes nulls, because the reader that both APIs share expects none. */
const withoutNulls = <T extends object>(form: T) =>
  Object.fromEntries(Object.entries(form).filter(([, value]) => value !== null)) as {
    [K in keyof T]: Exclude<T[K], null>
  }

/** The rules for names of clients only. The rules for SMS and MEGAFON hold for partners too and are in the domain. */
function refuseBadName({ senderName, channelType }: Pick<Sender, 'senderName' | 'channelType'>) {
  if (channelType === 'VIBER') refuseBadViberName(senderName)
}

function refuseUndocumented({ commonType }: Pick<Sender, 'commonType'>, documented: boolean) {
  if (commonType === 'PROMO' && !documented) throw invalid('file1: is required for a sender name of the type PROMO')
}

async function storeFiles(sql: Transaction, companyId: number, files: FormPart[], quota?: DocumentQuota) {
  const ids: string[] = []
  for (const { filename, content } of files) {
    ids.push((await storeDocument(sql, companyId, { filename: filename!, content }, quota)).id)
  }
  return ids
}
