import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { type ClientChannel, channelTypes } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { formatMoney } from '../../../base/money.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import type { Sql } from '../../../db/sql.ts'
import { changeTogether, recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { DocumentKind } from '../../../domain/documents/document.ts'
import { listDocuments } from '../../../domain/documents/documents.ts'
import { type Brand, brands } from '../../../domain/numbering/brand.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { may } from '../../../domain/people/rights.ts'
import { senderFeeTable } from '../../../domain/pricing/pricing.ts'
import {
  changeableFields,
  commonTypes,
  isInternational,
  refuseBadViberName,
  type Sender,
  type SenderChange,
  type SenderRequest,
} from '../../../domain/senders/sender.ts'
import {
  createSenders,
  pageOfNames,
  requireSender,
  requireSenderRequest,
  requireUnchanged,
  reviewChangesOfSender,
  sendersByNames,
  suspendSender,
  unsuspendSender,
  updateSender,
} from '../../../domain/senders/senders.ts'
import { versionOf } from '../../../domain/senders/version.ts'
import { DateTime, Id, OneOf } from '../../schemas.ts'
import { wireNameOf } from '../../wire-names.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { historyOf, reviewActorOf } from './review-history.ts'
import { listQuery, type ReviewFilter, statusesOf } from './review-list.ts'

const PER_PAGE = 50
const MOST_DOCUMENTS = 20

const ListQuery = listQuery([...(Object.keys(statusesOf) as ReviewFilter[]), 'suspended'], 64)
const BySender = Type.Object({ senderId: Id })
const SenderName = Type.String({ minLength: 1, maxLength: 64 })
const Description = Type.String({ maxLength: 2000 })
const DocumentIds = Type.Array(Type.String({ format: 'uuid' }), { maxItems: MOST_DOCUMENTS })
const NewName = Type.Object({
  channelType: OneOf(channelTypes),
  senderName: SenderName,
  commonType: OneOf(commonTypes),
  /** For SMS in Russia. In other countries and channels one registration is valid for all operators. */
  brands: Type.Array(OneOf(brands), { maxItems: brands.length, uniqueItems: true }),
  description: Description,
  documentIds: DocumentIds,
})
const Change = Type.Object({
  version: Type.String({ maxLength: 40 }),
  senderName: Type.Optional(SenderName),
  commonType: Type.Optional(OneOf(commonTypes)),
  description: Type.Optional(Description),
  documentIds: Type.Optional(DocumentIds),
  /** The name closes at this moment. */
  dateTo: Type.Optional(DateTime),
})
const Suspension = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 2000 })) })

/** Types of requests and answers, which the page imports. Amounts are decimals with four places. */
export type NewNameForm = Type.Static<typeof NewName>
export type NameChange = Type.Static<typeof Change>
export type ListedRegistration = ReturnType<typeof presentRegistration>
export type ListedName = { channelType: ClientChannel; senderName: string; registrations: ListedRegistration[] }
export type NamesAnswer = { page: number; perPage: number; total: number; names: ListedName[]; currency: string }
/** The monthly fee of a paid name at each operator with a fee. */
export type FeesAnswer = { currency: string; fees: Partial<Record<Brand, string>> }
export type AttachedDocument = { id: string; filename: string; kind: DocumentKind; createdAt: Date }
export type MadeAnswer = { senderIds: number[] }
export type SenderPageAnswer = Awaited<ReturnType<typeof presentPage>>
export type { HistoryItem } from './review-history.ts'

const change = { needs: 'settings.change' } as const

/** Sender names of one company: listing, requesting, changing and suspending. */
export const senderRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    senderListRoutes(api, context)
    senderChangeRoutes(api, context)
  }

/** Lists, reads and requests names. */
function senderListRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  const see = { needs: 'settings.see' } as const

  api.get(
    '/senders',
    { config: see, schema: { querystring: ListQuery } },
    async ({ viewer, query }): Promise<NamesAnswer> => {
      const { companyId, currency } = await companyOf(sql, viewer, query)
      const place = { page: query.page, perPage: PER_PAGE }
      const { total, names } = await pageOfNames(sql, companyId, filterIn(query), place)
      const present = (sender: Sender) => presentRegistration(viewer, sender)
      return {
        ...place,
        total,
        currency,
        names: names.map(name => ({ ...name, registrations: name.registrations.map(present) })),
      }
    },
  )

  api.get(
    '/senders/fees',
    { config: see, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<FeesAnswer> => {
      const { currency } = await companyOf(sql, viewer, query)
      return { currency, fees: maySeeFees(viewer) ? await feesByBrand(sql) : {} }
    },
  )

  api.post(
    '/senders',
    { config: change, schema: { querystring: OfCompany, body: NewName } },
    async ({ viewer, actor, query, body }, reply): Promise<MadeAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const wanted = readNewName(body, clock())
      const made = await sql.begin(async tx => {
        const senders = await createSenders(tx, companyId, wanted, brandsOf(body))
        for (const sender of senders) {
          const { channelType, commonType, brand, documentIds } = { ...sender, ...wanted }
          const after = { channel: channelType, type: commonType, brand, documents: documentIds.length }
          await recordChange(tx, actor, { what: 'sender.created', ...subjectOf(sender), after })
        }
        return senders
      })
      reply.code(201)
      return { senderIds: made.map(({ senderId }) => senderId) }
    },
  )

  api.get(
    '/senders/:senderId',
    { config: see, schema: { querystring: OfCompany, params: BySender } },
    async ({ viewer, query, params }): Promise<SenderPageAnswer> => {
      const { companyId, currency } = await companyOf(sql, viewer, query)
      const sender = await requireSenderRequest(sql, companyId, params.senderId)
      return presentPage(sql, viewer, sender, currency)
    },
  )
}

/** Changes and suspends names. */
function senderChangeRoutes(api: CabinetApi, { sql, clock }: CabinetContext) {
  /** A name that was rejected goes back into review. */
  api.patch(
    '/senders/:senderId',
    { config: change, schema: { querystring: OfCompany, params: BySender, body: Change } },
    async ({ viewer, actor, query, params, body }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await changeTogether(sql, async (tx, within) => {
        const before = await requireUnchanged(tx, companyId, params.senderId, body.version)
        const wanted = readChange(before, body)
        await updateSender(within, before, wanted, clock(), reviewActorOf[viewer.kind])
        const after = await requireSenderRequest(tx, companyId, params.senderId)
        const values = { before: valuesOf(before), after: valuesOf(after) }
        await recordChange(tx, actor, { what: 'sender.changed', ...subjectOf(after), ...values })
      })
      return reply.code(204).send()
    },
  )

  api.post(
    '/senders/:senderId/suspend',
    { config: change, schema: { querystring: OfCompany, params: BySender, body: Suspension } },
    async ({ viewer, actor, query, params, body }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        const before = await requireSender(tx, companyId, params.senderId)
        const after = await suspendSender(tx, before, body.reason?.trim() || undefined)
        const values = { before: suspensionOf(before), after: suspensionOf(after) }
        await recordChange(tx, actor, { what: 'sender.suspended', ...subjectOf(after), ...values })
      })
      return reply.code(204).send()
    },
  )

  api.post(
    '/senders/:senderId/unsuspend',
    { config: change, schema: { querystring: OfCompany, params: BySender } },
    async ({ viewer, actor, query, params }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        const before = await requireSender(tx, companyId, params.senderId)
        const after = await unsuspendSender(tx, before)
        const values = { before: suspensionOf(before), after: suspensionOf(after) }
        await recordChange(tx, actor, { what: 'sender.unsuspended', ...subjectOf(after), ...values })
      })
      return reply.code(204).send()
    },
  )
}

const filterIn = ({ state, search }: Type.Static<typeof ListQuery>) => ({
  statuses: state && state !== 'suspended' ? statusesOf[state] : undefined,
  suspended: state === 'suspended' ? true : undefined,
  search: search?.trim() || undefined,
})

function readNewName({ channelType, senderName, commonType, description, documentIds }: NewNameForm, now: Date) {
  const wanted = { channelType, senderName: senderName.trim(), commonType, documentIds }
  refuseBadForm(wanted)
  return { ...wanted, description: description.trim() || undefined, countryCode: 'RU', validFrom: now }
}

/** Uses the rules of the messaging API, where companies request names themselves too. */
function refuseBadForm({ channelType, senderName, commonType, documentIds }: BadForm) {
  if (channelType === 'VIBER') refuseBadViberName(senderName)
  if (commonType === 'PROMO' && documentIds.length === 0) {
    throw invalid('documentIds: a document is required for a sender name of the type PROMO')
  }
}

type BadForm = Pick<SenderRequest, 'channelType' | 'senderName' | 'commonType' | 'documentIds'>

/** In other channels and abroad one registration is valid for every operator. It is stored under the first brand. */
function brandsOf({ channelType, commonType, brands: wanted }: NewNameForm): Brand[] {
  if (channelType !== 'SMS' || isInternational({ commonType })) return [brands[0]!]
  if (wanted.length === 0) throw invalid('brands: at least one operator is required')
  return wanted
}

function readChange(before: SenderRequest, { version: _, dateTo, ...change }: NameChange): SenderChange {
  const wanted: SenderChange = {
    ...change,
    ...(change.senderName === undefined ? {} : { senderName: change.senderName.trim() }),
    ...(dateTo === undefined ? {} : { validTo: readTimestamp(dateTo)!.time }),
  }
  if (change.senderName ?? change.commonType ?? change.documentIds) refuseBadForm({ ...before, ...wanted })
  return wanted
}

/** The fields that the audit log keeps. */
const valuesOf = ({ senderName, commonType, validTo, description, documentIds, status }: SenderRequest) => ({
  name: senderName,
  type: commonType,
  dateTo: validTo,
  note: description,
  documents: documentIds.length,
  status,
})

const suspensionOf = ({ suspended, suspendReason }: Sender) => ({ paused: suspended, comment: suspendReason })

export const subjectOf = ({ senderId, senderName, companyId }: Sender) => ({
  subject: { kind: 'sender', id: senderId, name: senderName },
  companyId,
})

/** A viewer with a right to change names or to see money sees the fees. */
const maySeeFees = (viewer: Viewer) => may(viewer, 'money.see') || may(viewer, 'settings.change')

export async function feesByBrand(sql: Sql): Promise<FeesAnswer['fees']> {
  const feeOf = await senderFeeTable(sql)
  const fees = brands.flatMap(brand => {
    const fee = feeOf(brand)
    return fee ? [[brand, formatMoney(fee)] as const] : []
  })
  return Object.fromEntries(fees)
}

const presentRegistration = (viewer: Viewer, sender: Sender) => ({
  senderId: sender.senderId,
  brand: sender.brand,
  commonType: sender.commonType,
  isInternational: isInternational(sender),
  status: sender.status,
  suspended: sender.suspended,
  comment: sender.managerComment,
  fee: sender.fee === null || !maySeeFees(viewer) ? null : formatMoney(sender.fee),
  createdAt: sender.createdAt,
})

async function presentPage(sql: Sql, viewer: Viewer, sender: SenderRequest, currency: string) {
  const { companyId, senderId, senderName, channelType } = sender
  const called = await sendersByNames(sql, companyId, [senderName])
  return {
    ...presentRegistration(viewer, sender),
    senderName,
    channelType,
    suspendReason: sender.suspendReason,
    description: sender.description ?? '',
    dateFrom: sender.validFrom,
    dateTo: sender.validTo,
    currency,
    version: versionOf(sender),
    changeable: changeableFields.in(sender.status).map(wireNameOf),
    documents: await attachedTo(sql, sender),
    history: historyOf(sender.createdAt, await reviewChangesOfSender(sql, companyId, senderId)),
    /** The other registrations of the same name in its channel. */
    registrations: called
      .filter(one => one.channelType === channelType)
      .map(one => presentRegistration(viewer, one))
      .slice(0, MOST_SHOWN),
  }
}

const MOST_SHOWN = 50

/** In the order in which they were attached to the request. */
export async function attachedTo(sql: Sql, { companyId, documentIds }: SenderRequest): Promise<AttachedDocument[]> {
  if (documentIds.length === 0) return []
  const known = new Map((await listDocuments(sql, companyId)).map(document => [document.id, document]))
  return documentIds.flatMap(id => {
    const document = known.get(id)
    return document ? [{ id, filename: document.filename, kind: document.kind, createdAt: document.createdAt }] : []
  })
}
