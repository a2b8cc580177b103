import { notFound } from '../../base/errors.ts'
import type { Pool, Transaction } from '../../db/sql.ts'
import { advanceRows, approve, deny, MOST_ROWS_OF_A_RUN, type ReviewedSlice, reject } from '../review/decisions.ts'
import { type Moderation, statusesOfEngine } from '../review/review.ts'
import * as store from './store.ts'
import type { Template } from './template.ts'
import { companyOfTemplate, requireTemplate } from './templates.ts'

/**
 * Changes the status of every template that is due. The engine submits drafts, passes the review where moderation is
 * automatic, approves templates on their first day and closes them on their last. Returns the number of changes.
 */
export async function advanceDueTemplates(pool: Pool, moderation: Moderation, now: Date): Promise<number> {
  const due = { statuses: statusesOfEngine(moderation), now, limit: MOST_ROWS_OF_A_RUN }
  return advanceRows(pool, templates, await store.selectDue(pool, due), moderation, now)
}

/** Submits a draft to staff. They decide on it even where moderation is automatic. */
export async function submitToStaff(sql: Transaction, template: Template, now: Date): Promise<void> {
  await store.changeStatus(sql, template, { from: 'DRAFT', to: 'PRE_REVIEW', by: 'staff', at: now })
}

export function approveTemplate(pool: Pool, templateId: number, now: Date, comment?: string): Promise<Template> {
  return pool.begin(sql => approve(sql, templates, templateId, { comment, now }))
}

export function rejectTemplate(pool: Pool, templateId: number, comment: string, now: Date): Promise<Template> {
  return pool.begin(sql => reject(sql, templates, templateId, { comment, now }))
}

export function denyTemplate(
  pool: Pool,
  templateId: number,
  comment: string | undefined,
  now: Date,
): Promise<Template> {
  return pool.begin(sql => deny(sql, templates, templateId, { comment, now }))
}

const templates: ReviewedSlice<store.DueTemplate, Template> = {
  noun: 'Template',
  idOf: ({ templateId }) => templateId,
  lock: lockTemplate,
  read: (sql, { companyId, templateId }) => requireTemplate(sql, companyId, templateId),
  changeStatus: (sql, template, change) => store.changeStatus(sql, template, { ...change, seen: template }),
}

async function lockTemplate(sql: Transaction, templateId: number): Promise<Template> {
  const [template] = await store.selectTemplateForUpdate(sql, await companyOfTemplate(sql, templateId), templateId)
  if (!template) throw notFound('Template')
  return template
}
