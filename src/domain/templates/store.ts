import type { Sql } from '../../db/sql.ts'
import type { Mover, Move as PastMove } from '../senders/sender.ts'
import type { NewTemplate, Template, TemplateChange, TemplateStatus } from './template.ts'

const columns = (sql: Sql) => sql`
  t.template_id, t.company_id, t.channel_type,
  t.traffic_type, t.pattern, t.sender_id, s.sender_name, s.brand,
  s.country_code, t.content, t.valid_from, t.valid_to, t.status,
  t.manager_comment, t.rejected_at, t.created_at`

const fromTemplates = (sql: Sql) => sql`
  from templates t left join senders s on s.company_id = t.company_id and s.sender_id = t.sender_id`

export function insertTemplateId(sql: Sql, companyId: number) {
  return sql<{ templateId: number }[]>`
    insert into template_ids (company_id) values (${companyId}) returning template_id`
}

/** Nothing is written, and no row comes back, when the company has that many already. */
export function insertTemplate(sql: Sql, companyId: number, templateId: number, template: NewTemplate, most: number) {
  return sql<{ templateId: number }[]>`
    insert into templates (
      company_id, template_id, channel_type, traffic_type, pattern, sender_id, content, valid_from, valid_to)
    select ${companyId}, ${templateId}, ${template.channelType}, ${template.trafficType}, ${template.pattern},
      ${template.senderId}, ${contentOf(sql, template.content)}, ${template.validFrom}, ${template.validTo}
    where (select count(*) from templates where company_id = ${companyId} and status not in ('DENIED', 'CLOSED')) < ${most}
    returning template_id`
}

const contentOf = (sql: Sql, content: Template['content']) => (content === null ? null : sql.json(content))

/** Until the transaction ends, nobody else makes a template of this company. */
export const lockTemplatesOf = (sql: Sql, companyId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`templates of ${companyId}`}, 0))`

/** The resolver: from a bare id to its company. */
export const selectCompanyOf = (sql: Sql, templateId: number) =>
  sql<{ companyId: number }[]>`select company_id from template_ids where template_id = ${templateId}`

export function selectTemplate(sql: Sql, companyId: number, templateId: number) {
  return sql<Template[]>`
    select ${columns(sql)} ${fromTemplates(sql)} where t.company_id = ${companyId} and t.template_id = ${templateId}`
}

export function selectTemplatesByIds(sql: Sql, companyId: number, templateIds: number[]) {
  return sql<Template[]>`
    select ${columns(sql)} ${fromTemplates(sql)}
    where t.company_id = ${companyId} and t.template_id = any(${templateIds}::bigint[])`
}

export function selectTemplateForUpdate(sql: Sql, companyId: number, templateId: number) {
  return sql<Template[]>`
    select ${columns(sql)} ${fromTemplates(sql)}
    where t.company_id = ${companyId} and t.template_id = ${templateId} for update of t`
}

export type TemplateFilter = Partial<
  Record<'channelType' | 'trafficType' | 'status' | 'brand' | 'countryCode' | 'senderName', string[]>
> & {
  templateId?: number[]
  senderId?: number[]
  /** A part of the pattern. */
  search?: string
}

const filtered = (sql: Sql, companyId: number, filter: TemplateFilter) => {
  const oneOf = (column: string, values: string[] | undefined) =>
    values?.length ? sql`and ${sql(column)}::text = any(${values}::text[])` : sql``
  const oneOfIds = (column: string, ids: number[] | undefined) =>
    ids?.length ? sql`and ${sql(column)} = any(${ids}::bigint[])` : sql``
  return sql`
    ${fromTemplates(sql)} where t.company_id = ${companyId}
    ${oneOf('t.channel_type', filter.channelType)} ${oneOf('t.traffic_type', filter.trafficType)}
    ${oneOf('t.status', filter.status)} ${oneOf('s.brand', filter.brand)}
    ${oneOf('s.country_code', filter.countryCode)} ${oneOf('s.sender_name', filter.senderName)}
    ${oneOfIds('t.template_id', filter.templateId)} ${oneOfIds('t.sender_id', filter.senderId)}
    ${filter.search === undefined ? sql`` : sql`and strpos(lower(t.pattern), lower(${filter.search})) > 0`}`
}

export const countTemplates = (sql: Sql, companyId: number, filter: TemplateFilter) =>
  sql<{ total: number }[]>`select count(*) as total ${filtered(sql, companyId, filter)}`

export function selectTemplates(
  sql: Sql,
  companyId: number,
  filter: TemplateFilter,
  page: { offset: number; limit: number; newestFirst?: boolean },
) {
  return sql<Template[]>`
    select ${columns(sql)} ${filtered(sql, companyId, filter)}
    order by t.template_id ${page.newestFirst ? sql`desc` : sql``} offset ${page.offset} limit ${page.limit}`
}

export function updateTemplate(sql: Sql, template: Template, change: TemplateChange) {
  const changed = { ...template, ...change }
  return sql`
    update templates set
      traffic_type = ${changed.trafficType}, pattern = ${changed.pattern}, sender_id = ${changed.senderId},
      content = ${contentOf(sql, changed.content)}, valid_from = ${changed.validFrom}, valid_to = ${changed.validTo}
    where company_id = ${template.companyId} and template_id = ${template.templateId}`
}

const newVersion = (sql: Sql, first: ReturnType<Sql>) => sql`
  insert into template_versions (company_id, version) ${first}
  on conflict (company_id) do update set version = template_versions.version + 1`

/** A change of an approved template is a new version as well. */
export const insertVersion = (sql: Sql, companyId: number) => newVersion(sql, sql`values (${companyId}::bigint, 1)`)

export type Move = {
  companyId: number
  templateId: number
  from: TemplateStatus
  to: TemplateStatus
  by: Mover
  comment?: string | undefined
  /** What the move was decided on, where the row is not locked. */
  seen?: Pick<Template, 'validFrom' | 'validTo'>
  now: Date
}

/**
 * Moves a template, once: only from the state it was seen in, and as it was seen. The move itself is kept as a row. A
 * move into or out of APPROVED is a new version of the company's approved templates.
 */
export function moveTemplate(sql: Sql, move: Move) {
  const isNewVersion = move.from === 'APPROVED' || move.to === 'APPROVED'
  return sql`
    with moved as (
      update templates set
        status = ${move.to},
        manager_comment = ${commentAfter(sql, move)},
        rejected_at = ${move.to === 'REJECTED' ? move.now : null}
      where company_id = ${move.companyId} and template_id = ${move.templateId} and status = ${move.from}
        ${move.seen ? unchanged(sql, move.seen) : sql``}
      returning company_id, template_id)
    ${isNewVersion ? sql`, versions as (${newVersion(sql, sql`select company_id, 1 from moved`)})` : sql``}
    insert into template_moves (company_id, template_id, from_status, to_status, moved_by, comment, moved_at)
    select company_id, template_id, ${move.from}, ${move.to}, ${move.by}, ${move.comment ?? null}, ${move.now}
    from moved`
}

/** As for sender names: what was said of a rejection ends where the review ends well. */
const commentAfter = (sql: Sql, { to, comment }: Move) =>
  to === 'AWAITING' ? sql`${comment ?? null}::text` : sql`coalesce(${comment ?? null}, manager_comment)`

const unchanged = (sql: Sql, seen: NonNullable<Move['seen']>) => sql`
  and date_trunc('milliseconds', valid_from) = ${seen.validFrom}
  and date_trunc('milliseconds', valid_to) is not distinct from ${seen.validTo}::timestamptz`

export type Due = Pick<Template, 'companyId' | 'templateId' | 'status' | 'validFrom' | 'validTo'>

/** Templates that the clock, or automatic moderation, has to move now. Those submitted to staff stay under review. */
export function selectDue(sql: Sql, movable: TemplateStatus[], now: Date, limit: number) {
  return sql<Due[]>`
    select company_id, template_id, status, valid_from, valid_to
    from templates
    where status in ('DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW', 'AWAITING')
      and status = any(${movable}::text[]::review_status[]) and (status <> 'AWAITING' or valid_from <= ${now})
      and (status = 'AWAITING' or not exists (
        select from template_moves m
        where m.company_id = templates.company_id and m.template_id = templates.template_id
          and m.to_status = 'PRE_REVIEW' and m.moved_by = 'staff'))
    union all
    select company_id, template_id, status, valid_from, valid_to
    from templates
    where status in ('AWAITING', 'APPROVED') and valid_to <= ${now}
    limit ${limit}`
}

/** Far more changes than a review has. */
const MOST_MOVES = 100

export const selectMoves = (sql: Sql, companyId: number, templateId: number) => sql<PastMove[]>`
  select "from", "to", "by", comment, moved_at from (
    select move_id, from_status as "from", to_status as "to", moved_by as "by", comment, moved_at
    from template_moves where company_id = ${companyId} and template_id = ${templateId}
    order by move_id desc limit ${MOST_MOVES}) latest
  order by move_id`

export function selectAllTemplates(sql: Sql, companyId: number | undefined) {
  return sql<Template[]>`
    select ${columns(sql)} ${fromTemplates(sql)}
    ${companyId === undefined ? sql`` : sql`where t.company_id = ${companyId}`}
    order by t.status >= 'APPROVED', t.template_id`
}

export const selectVersion = (sql: Sql, companyId: number) =>
  sql<{ version: number }[]>`
    select coalesce(max(version), 0) as version from template_versions where company_id = ${companyId}`

export type ApprovedRow = { version: number } & (Template | { templateId: null })

/**
 * What messages of a company may match, the most urgent first, and the version of it, in one statement. A template is
 * APPROVED only after its first moment has come, so `date_from` is not compared with the clock of another process.
 */
export function selectApproved(sql: Sql, companyId: number) {
  return sql<ApprovedRow[]>`
    select v.version, ${columns(sql)}
    from (select coalesce(max(version), 0) as version from template_versions where company_id = ${companyId}) v
    left join (templates t left join senders s on s.company_id = t.company_id and s.sender_id = t.sender_id)
      on t.company_id = ${companyId} and t.status = 'APPROVED'
    order by array_position('{AUTHORIZE,TRANSACT,SERVICE,PROMO}', t.traffic_type), t.template_id`
}

/** A template that waits for staff, and since when: since it was last submitted. */
export type WaitingTemplate = Pick<Template, 'templateId' | 'companyId' | 'channelType' | 'pattern' | 'senderName'> & {
  companyName: string
  waitingSince: Date
}

/** Read from the index of reviews, which holds nothing else. The oldest first. */
export function selectWaiting(sql: Sql, limit: number) {
  return sql<WaitingTemplate[]>`
    select t.template_id, t.company_id, c.name as company_name,
      t.channel_type, t.pattern, s.sender_name,
      coalesce(submitted.at, t.created_at) as waiting_since
    ${fromTemplates(sql)}
    join companies c on c.company_id = t.company_id
    left join lateral (
      select max(m.moved_at) as at from template_moves m
      where m.company_id = t.company_id and m.template_id = t.template_id and m.to_status = 'PRE_REVIEW') submitted on true
    where t.status in ('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW')
    order by waiting_since, t.template_id limit ${limit}`
}

export const countWaiting = (sql: Sql) =>
  sql<{ waiting: number }[]>`
    select count(*)::int as waiting from templates
    where status in ('PRE_REVIEW', 'INTERNAL_REVIEW', 'EXTERNAL_REVIEW')`
