import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid, notFound } from '../../../base/errors.ts'
import { normaliseNumber } from '../../../base/phone/phone-number.ts'
import type { Sql, Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor } from '../../../domain/audit-log/entry.ts'
import {
  addToBlacklist,
  type BlacklistEntry,
  type BlacklistPlace,
  everyEntry,
  findEntry,
  importToBlacklist,
  pageOfBlacklist,
  removeEntry,
  sizeOfBlacklist,
} from '../../../domain/blacklist/blacklist.ts'
import { STOP_WORD_COMMENT } from '../../../domain/blacklist/entry.ts'
import type { Language } from '../../../domain/people/person.ts'
import { Defaulted, Id } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, OfCompany } from '../company-scope.ts'
import { csvOf, csvStyles } from '../reports/csv.ts'
import { FileSender } from '../reports/file-sender.ts'
import { clockIn } from '../reports/report.ts'
import { ofReader, refuseUnknownZone, reportWordsOf } from '../reports/report-words.ts'

const EXPORTS_OF_PERSON = 1
/** The limit of numbers in one request of an import. */
const MOST_NUMBERS = 10_000

const List = Type.Object({
  companyId: Type.Optional(Id),
  /** A number or its first digits. */
  q: Defaulted(Type.String({ maxLength: 64, default: '' })),
  /** The `next` of the previous page of the list. It ends with a number, or with the name of an erased number. */
  after: Type.Optional(Type.String({ pattern: '^\\d{1,16}-(\\d{1,32}|erased-[0-9a-f]{32})$' })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
const Written = Type.String({ minLength: 1, maxLength: 64 })
const Comment = Type.Optional(Type.String({ maxLength: 255 }))
const NewEntry = Type.Object({ msisdn: Written, comment: Comment })
const Import = Type.Object({
  numbers: Type.Array(Written, { minItems: 1, maxItems: MOST_NUMBERS }),
  comment: Comment,
  /** The file, for the audit log. */
  fileName: Type.Optional(Type.String({ maxLength: 255 })),
})
const Export = Type.Object({ ...OfCompany.properties, ...ofReader })
const ByNumber = Type.Object({ msisdn: Type.String({ pattern: '^\\d{5,15}$' }) })

/** Types of requests and answers, which the page imports. */
export type NewBlacklistEntry = Type.Static<typeof NewEntry>
export type BlacklistImport = Type.Static<typeof Import>
export type ListedNumber = ReturnType<typeof present>
export type BlacklistAnswer = {
  items: ListedNumber[]
  next: string | null
  /** The number of entries. With `isMore` there are more, and counting stopped. */
  total: number
  isMore: boolean
}
export type AddedAnswer = { msisdn: string; isNew: boolean }
/** `refused`: the positions of invalid numbers in the request. */
export type ImportAnswer = { added: number; alreadyThere: number; refused: number[] }

/** Numbers to which the company must not send. */
export const blacklistRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    blacklistReadRoutes(api, context)
    blacklistChangeRoutes(api, context)
  }

/** Lists the numbers, a page at a time or as a file. */
function blacklistReadRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, billingZone } = context
  const files = new FileSender(context, EXPORTS_OF_PERSON)
  const config = { needs: 'settings.see' } as const

  api.get(
    '/blacklist',
    { config, schema: { querystring: List } },
    async ({ viewer, query }): Promise<BlacklistAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const place = { beginning: beginningIn(query.q), after: query.after ? placeIn(query.after) : undefined }
      const [{ items, next }, size] = await Promise.all([
        pageOfBlacklist(sql, companyId, place, query.perPage),
        sizeOfBlacklist(sql, companyId),
      ])
      return { items: items.map(present), next: next ? `${next.micros}-${next.destination}` : null, ...size }
    },
  )

  api.get('/blacklist/export', { config, schema: { querystring: Export } }, async (request, reply) => {
    const { language, zone = billingZone, ...query } = request.query
    refuseUnknownZone(zone)
    const { companyId } = await companyOf(sql, request.viewer, query)
    const pieces = exportOf(sql, companyId, language, zone)
    return files.send(request, reply, { name: `blacklist-${companyId}`, format: 'csv', pieces })
  })
}

/** Adds, imports and removes numbers. */
function blacklistChangeRoutes(api: CabinetApi, { sql }: CabinetContext) {
  const config = { needs: 'settings.change' } as const

  api.post(
    '/blacklist',
    { config, schema: { querystring: OfCompany, body: NewEntry } },
    async ({ viewer, actor, query, body }, reply): Promise<AddedAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const msisdn = normaliseNumber(body.msisdn)
      if (!msisdn) throw invalid('msisdn: must be a phone number of 5 to 15 digits')
      const comment = body.comment?.trim() || undefined
      const before = await sql.begin(tx => add(tx, actor, companyId, msisdn, comment))
      reply.code(before ? 200 : 201)
      return { msisdn, isNew: before === undefined }
    },
  )

  /**
   * Adds one piece of a file. The page may repeat the request: numbers that are already in the list stay as they are.
   */
  api.post(
    '/blacklist/import',
    { config, schema: { querystring: OfCompany, body: Import } },
    async ({ viewer, actor, query, body }): Promise<ImportAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const read = body.numbers.map(normaliseNumber)
      const numbers = [...new Set(read.filter(number => number !== undefined))]
      const added = await sql.begin(tx => importNumbers(tx, actor, companyId, numbers, body))
      const refused = read.flatMap((number, place) => (number === undefined ? [place] : []))
      return { added, alreadyThere: body.numbers.length - refused.length - added, refused }
    },
  )

  api.delete(
    '/blacklist/:msisdn',
    { config, schema: { querystring: OfCompany, params: ByNumber } },
    async ({ viewer, actor, query, params: { msisdn } }, reply) => {
      const { companyId } = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        const before = await removeEntry(tx, companyId, msisdn)
        if (!before) throw notFound('Number')
        const subject = { kind: 'number', id: msisdn }
        await recordChange(tx, actor, { what: 'blacklist.removed', companyId, subject, before })
      })
      return reply.code(204).send()
    },
  )
}

/** Returns the entry as it was before, if the number was in the list. */
async function add(tx: Transaction, actor: Actor, companyId: number, msisdn: string, comment: string | undefined) {
  const before = await findEntry(tx, companyId, msisdn)
  await addToBlacklist(tx, companyId, msisdn, comment, 'CABINET')
  await recordChange(tx, actor, {
    what: 'blacklist.added',
    companyId,
    subject: { kind: 'number', id: msisdn },
    ...(before ? { before: { comment: before.comment } } : {}),
    after: { comment: comment ?? before?.comment ?? null },
  })
  return before
}

/** Returns how many numbers were not in the list before. */
async function importNumbers(
  tx: Transaction,
  actor: Actor,
  companyId: number,
  numbers: string[],
  { comment, fileName }: BlacklistImport,
): Promise<number> {
  const added = await importToBlacklist(tx, companyId, numbers, comment?.trim() || undefined)
  const subject = { kind: 'blacklist', id: companyId, ...(fileName ? { name: fileName } : {}) }
  if (added > 0)
    await recordChange(tx, actor, { what: 'blacklist.imported', companyId, subject, after: { entries: added } })
  return added
}

/** The digits typed so far, with the country code first. Undefined without digits. */
function beginningIn(typed: string): string | undefined {
  const digits = typed.replaceAll(/\D/g, '')
  if (digits === '') return undefined
  if (typed.includes('+')) return digits
  if (/^8[3489]/.test(digits) && digits.length <= 11) return `7${digits.slice(1)}`
  return /^9/.test(digits) && digits.length <= 10 ? `7${digits}` : digits
}

function placeIn(after: string): BlacklistPlace {
  const end = after.indexOf('-')
  return { micros: Number(after.slice(0, end)), destination: after.slice(end + 1) }
}

function exportOf(sql: Sql, companyId: number, language: Language, zone: string) {
  const words = reportWordsOf(language)
  const at = clockIn(zone)
  async function* rows() {
    for await (const page of everyEntry(sql, companyId))
      yield page
        .map(present)
        .map(({ msisdn, source, createdAt, comment }) => [msisdn, words.sourceOf(source), at(createdAt), comment])
  }
  const head = [words.number, words.source, `${words.added} (${zone})`, words.comment]
  return csvOf(head, rows(), csvStyles[language])
}

const present = ({ destination, comment, source, createdAt }: BlacklistEntry) => ({
  msisdn: destination,
  /** Null for the standard comment of a stop word, because `source` says the same. */
  comment: source === 'STOP' && comment === STOP_WORD_COMMENT ? null : comment,
  source,
  createdAt,
})
