import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalid } from '../../../base/errors.ts'
import { readTimestamp } from '../../../base/time/timestamp.ts'
import type { Sql } from '../../../db/sql.ts'
import { type Entry, type Filter, listEntries, type Place } from '../../../domain/audit-log/audit-log.ts'
import { type Actor, type AuditAction, auditActions } from '../../../domain/audit-log/entry.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import { DateTime, Defaulted, Id, OneOf } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'

const Query = Type.Object({
  companyId: Type.Optional(Id),
  /** The login of the person who made the change, or the system user of a command. */
  person: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  what: Type.Optional(OneOf(auditActions)),
  /** The kind and the id of the changed object, such as `person:12`. */
  subject: Type.Optional(Type.String({ pattern: '^[a-z_]{1,30}:.{1,300}$' })),
  from: Type.Optional(DateTime),
  /** The period ends before this moment. */
  to: Type.Optional(DateTime),
  /** The `next` of the previous page of the list. */
  after: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,16}$' })),
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})

/** Types of answers, which the page imports. */
export type AuditEntry = ReturnType<typeof present>
/** `whats`: the kinds of changes that the viewer may see. */
export type AuditAnswer = { entries: AuditEntry[]; next: string | null; whats: readonly AuditAction[] }
export type { AuditAction } from '../../../domain/audit-log/entry.ts'

/** Changes of the viewer's company, of a partner and its companies, or for staff of the whole service. */
export const auditRoutes =
  ({ sql }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/audit',
      { config: { needs: 'audit.see' }, schema: { querystring: Query } },
      async ({ viewer, query }): Promise<AuditAnswer> => {
        const filter = { ...(await scopeOf(sql, viewer, query)), ...filterIn(viewer, query) }
        const { entries, next } = await listEntries(sql, filter, query.perPage)
        return {
          entries: entries.map(entry => present(viewer, entry)),
          next: next ? placeText(next) : null,
          whats: auditActions.filter(what => !notFor[viewer.kind].test(what)),
        }
      },
    )
  }

/** The kinds of changes that each kind of viewer does not see. */
const notFor: Record<Viewer['kind'], RegExp> = {
  COMPANY: /^(staff|partner|tariffs|numbering|ported_numbers|gateway|month|audit_log)\./,
  PARTNER: /^(staff|numbering|ported_numbers|gateway|month|audit_log)\./,
  STAFF: /^$/,
}

async function scopeOf(sql: Sql, viewer: Viewer, { companyId }: { companyId?: number }): Promise<Filter> {
  if (companyId !== undefined) await requireCompanyWithin(sql, viewer, companyId)
  if (viewer.kind === 'COMPANY') return { companyId: viewer.companyId }
  if (companyId !== undefined) return { companyId }
  return viewer.kind === 'PARTNER' ? { partnerId: viewer.partnerId } : {}
}

function filterIn(viewer: Viewer, { person, what, subject, from, to, after }: Type.Static<typeof Query>): Filter {
  const [kind, ...id] = subject?.split(':') ?? []
  return {
    actor: person,
    actorKinds: shownTo[viewer.kind],
    what,
    subject: kind === undefined ? undefined : { kind, id: id.join(':') },
    from: timeIn(from, 'from'),
    to: timeIn(to, 'to'),
    after: after === undefined ? undefined : placeIn(after),
  }
}

function timeIn(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined
  const time = readTimestamp(text)?.time
  if (!time) throw invalid(`${name}: must be a time with its zone`)
  return time
}

const placeText = ({ at, entryId }: Place) => `${at.getTime()}-${entryId}`

function placeIn(text: string): Place {
  const [at, entryId] = text.split('-')
  return { at: new Date(Number(at)), entryId: Number(entryId) }
}

/** Other people learn that staff or the command line made a change, but not the name of the person or the address. */
const shownTo: Record<Viewer['kind'], readonly Actor['kind'][]> = {
  COMPANY: ['COMPANY', 'PARTNER'],
  PARTNER: ['COMPANY', 'PARTNER'],
  STAFF: ['COMPANY', 'PARTNER', 'STAFF', 'OPERATOR'],
}

export const isNamedTo = ({ kind }: Pick<Viewer, 'kind'>, actorKind: Actor['kind']) => shownTo[kind].includes(actorKind)

function present(viewer: Viewer, entry: Entry) {
  const isNamed = isNamedTo(viewer, entry.actorKind)
  const isPlaced = isNamed && (viewer.kind !== 'COMPANY' || entry.actorKind === 'COMPANY')
  return {
    id: placeText(entry),
    at: entry.at,
    who: {
      kind: isNamed ? entry.actorKind : ('STAFF' as const),
      login: isNamed ? entry.actor : null,
      address: isPlaced ? entry.address : null,
      agent: isPlaced ? entry.agent : null,
      requestId: isPlaced ? entry.requestId : null,
    },
    what: entry.what,
    subject: { kind: entry.subjectKind, id: entry.subjectId, name: entry.subjectName },
    company: entry.companyId === null ? null : { companyId: entry.companyId, name: entry.companyName ?? '' },
    before: entry.before,
    after: entry.after,
  }
}
