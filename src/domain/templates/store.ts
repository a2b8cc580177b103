import type { Sql, Transaction } from '../../db/sql.ts'
import {
  type DueRows,
  hasDates,
  joinSubmission,
  type NewReviewChange,
  newStatus,
  type ReviewedTable,
  selectDueRows,
  valuesOfChange,
  waits,
} from '../review/statements.ts'
import type { NewTemplate, Template, TemplateChange } from './template.ts'

export const reviewed: ReviewedTable = { rows: 'templates', idColumn: 'template_id', changes: 'template_moves' }

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

/** Inserts and returns no row if the company already has `most` templates. */
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

/** Until the transaction ends, no other transaction creates a template of this company. */
export const lockTemplatesOf = (sql: Sql, companyId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`templates of ${companyId}`}, 0))`

/** Finds the company of a template id. */
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

/** A change of an approved template is a new version as well. */
export const insertVersion = (sql: Sql, companyId: number) => sql`
  insert into template_versions (company_id, version) values (${companyId}, 1)
  on conflict (company_id) do update set version = template_versions.version + 1`

export type TemplateStatusChange = NewReviewChange & {
  /** The dates that the change was decided on, for a row that is not locked. */
  seen?: Pick<Template, 'validFrom' | 'validTo'>
}

/**
 * Changes the status of a template that still has the expected status and dates, and stores the change. APPROVED as the
 * old or the new status makes a new version of the company's approved templates. Returns false if nothing was changed.
 */
export async function changeStatus(
  sql: Transaction,
  { companyId, templateId }: Pick<Template, 'companyId' | 'templateId'>,
  change: TemplateStatusChange,
): Promise<boolean> {
  const { from, to, seen } = change
  const { count } = await sql`
    update templates set ${newStatus(sql, change)}
    where company_id = ${companyId} and template_id = ${templateId} and status = ${from}
      ${seen ? sql`and ${hasDates(sql, seen)}` : sql``}`
  if (count === 0) return false
  if (from === 'APPROVED' || to === 'APPROVED') await insertVersion(sql, companyId)
  await sql`
    insert into template_moves (company_id, template_id, from_status, to_status, moved_by, comment, moved_at)
    values (${companyId}, ${templateId}, ${valuesOfChange(sql, change)})`
  return true
}

export type DueTemplate = Pick<Template, 'companyId' | 'templateId' | 'status' | 'validFrom' | 'validTo'>

export const selectDue = (sql: Sql, due: DueRows) =>
  selectDueRows<DueTemplate>(sql, reviewed, sql`company_id, template_id, status, valid_from, valid_to`, due)

/** For staff: the templates of all companies or of one company. Templates before approval come first. */
export function listAllTemplates(sql: Sql, companyId: number | undefined) {
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
 * Reads the approved templates of a company, the most urgent first, and their version in one statement. A template
 * becomes APPROVED only after `valid_from`, so this statement need not compare `valid_from` with the clock of this
 * process.
 */
export function selectApproved(sql: Sql, companyId: number) {
  return sql<ApprovedRow[]>`
    select v.version, ${columns(sql)}
    from (select coalesce(max(version), 0) as version from template_versions where company_id = ${companyId}) v
    left join (templates t left join senders s on s.company_id = t.company_id and s.sender_id = t.sender_id)
      on t.company_id = ${companyId} and t.status = 'APPROVED'
    order by array_position('{AUTHORIZE,TRANSACT,SERVICE,PROMO}', t.traffic_type), t.template_id`
}

/** A template that waits for staff. `waitingSince`: the time of its last submission. */
export type WaitingTemplate = Pick<Template, 'templateId' | 'companyId' | 'channelType' | 'pattern' | 'senderName'> & {
  companyName: string
  waitingSince: Date
}

/** Templates that wait for staff, the oldest first. */
export function waitingTemplates(sql: Sql, limit: number) {
  return sql<WaitingTemplate[]>`
    select t.template_id, t.company_id, c.name as company_name,
      t.channel_type, t.pattern, s.sender_name,
      coalesce(submitted.at, t.created_at) as waiting_since
    ${fromTemplates(sql)}
    join companies c on c.company_id = t.company_id
    ${joinSubmission(sql, reviewed, sql`t`)}
    where ${waits(sql, sql`t`)}
    order by waiting_since, t.template_id limit ${limit}`
}
