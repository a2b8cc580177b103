import type { Sql } from '../../db/sql.ts'
import type { PageSettings, Verifier, VerifierKind, VerifierSettings, Widget } from './verifier.ts'

const columns = (sql: Sql) => sql`
  company_id, verifier_id, kind, name, settings, page, captcha_secret,
  created_at`

export const insertVerifierId = (sql: Sql, companyId: number, verifierId: string) =>
  sql`insert into verifier_ids (verifier_id, company_id) values (${verifierId}, ${companyId}) on conflict do nothing`

/** Locks the names of the company's verifiers until the transaction ends. */
export const lockNames = (sql: Sql, companyId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`verifiers of ${companyId}`}, 0))`

export type NewVerifier = {
  verifierId: string
  kind: VerifierKind
  name: string
  settings: VerifierSettings
  page: PageSettings | null
  captchaSecret: Buffer | null
}

export function insertVerifier(sql: Sql, companyId: number, given: NewVerifier) {
  const { verifierId, kind, name, settings, page, captchaSecret } = given
  return sql`
    insert into verifiers (company_id, verifier_id, kind, name, settings, page, captcha_secret)
    values (${companyId}, ${verifierId}, ${kind}, ${name}, ${JSON.stringify(settings)}::text::jsonb,
      ${page && JSON.stringify(page)}::text::jsonb, ${captchaSecret})`
}

export const selectCompanyOf = (sql: Sql, verifierId: string) =>
  sql<{ companyId: number }[]>`select company_id from verifier_ids where verifier_id = ${verifierId}`

export function selectVerifiersById(sql: Sql, ids: Pick<Verifier, 'companyId' | 'verifierId'>[]) {
  return sql<Verifier[]>`
    select ${columns(sql)} from verifiers
    where (company_id, verifier_id) in (
      select * from unnest(
        ${ids.map(({ companyId }) => companyId)}::bigint[], ${ids.map(({ verifierId }) => verifierId)}::text[]))`
}

export const lockVerifier = (sql: Sql, companyId: number, verifierId: string) => sql<Verifier[]>`
  select ${columns(sql)} from verifiers where company_id = ${companyId} and verifier_id = ${verifierId} for update`

/** A widget of a company that is not disabled. */
export function selectWidget(sql: Sql, companyId: number, widgetId: string) {
  return sql<Widget[]>`
    select ${columns(sql)} from verifiers v
    where v.company_id = ${companyId} and v.verifier_id = ${widgetId} and kind = 'WIDGET'
      and exists (select from companies c where c.company_id = ${companyId} and c.status <> 'DISABLED')`
}

export function listVerifiers(sql: Sql, companyId: number, kind: VerifierKind) {
  return sql<Verifier[]>`
    select ${columns(sql)} from verifiers where company_id = ${companyId} and kind = ${kind}
    order by created_at, verifier_id`
}

/** For staff: the verifiers of every company. */
export function listAllVerifiers(sql: Sql, kind: VerifierKind) {
  return sql<Verifier[]>`
    select ${columns(sql)} from verifiers where kind = ${kind} order by company_id, created_at, verifier_id`
}

export type VerifierChange = Pick<Verifier, 'name' | 'settings' | 'page' | 'captchaSecret'>

export function updateVerifier(sql: Sql, companyId: number, verifierId: string, change: VerifierChange) {
  return sql`
    update verifiers set name = ${change.name}, settings = ${JSON.stringify(change.settings)}::text::jsonb,
      page = ${change.page && JSON.stringify(change.page)}::text::jsonb, captcha_secret = ${change.captchaSecret}
    where company_id = ${companyId} and verifier_id = ${verifierId}`
}

/** Its id is never given to another verifier: pages and programs may still use it. */
export const deleteVerifier = (sql: Sql, { companyId, verifierId }: Verifier) =>
  sql`delete from verifiers where company_id = ${companyId} and verifier_id = ${verifierId}`
