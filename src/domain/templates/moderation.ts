import { invalid, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import type { Moderation } from '../senders/moderation.ts'
import { type Mover, reviewStates, waitingStates } from '../senders/sender.ts'
import * as store from './store.ts'
import type { Template, TemplateStatus } from './template.ts'

/** A batch is small enough to be one short transaction a template, and the next tick takes the rest. */
const BATCH = 500

/**
 * Moves every template that is due, as sender names are moved: a draft is submitted, automatic moderation passes what is
 * under review, and the clock approves and closes. Each move is conditional on the state it started from, so any
 * number of processes may do this at once. Returns how many moves were made.
 */
export async function moveDueTemplates(sql: Sql, moderation: Moderation, now: Date): Promise<number> {
  const movable: TemplateStatus[] = moderation === 'auto' ? [...reviewStates] : ['DRAFT', 'AWAITING']
  let moves = 0
  for (const template of await store.selectDue(sql, movable, now, BATCH)) {
    moves += await walk(sql, template, stepsOf(template, moderation, now), { by: 'clock', now })
  }
  return moves
}

function stepsOf(template: store.Due, moderation: Moderation, now: Date): TemplateStatus[] {
  if (template.validTo && template.validTo <= now && isOneOf(template.status, ['AWAITING', 'APPROVED']))
    return ['CLOSED']
  if (moderation === 'manual' && template.status === 'DRAFT') return ['PRE_REVIEW']
  return stepsToApproval(template, now)
}

/** The remaining states of the review, up to AWAITING, and APPROVED once its first day has come. */
function stepsToApproval(template: Pick<Template, 'status' | 'validFrom'>, now: Date): TemplateStatus[] {
  const place = reviewStates.indexOf(template.status as (typeof reviewStates)[number])
  const steps: TemplateStatus[] = reviewStates.slice(place + 1)
  return template.validFrom <= now ? [...steps, 'APPROVED'] : steps
}

type Word = { by: Mover; comment?: string | undefined; now: Date }

/** Takes a template through states, one after the other; a comment goes with the last of them. */
async function walk(sql: Sql, template: store.Due, steps: TemplateStatus[], { by, comment, now }: Word) {
  const { companyId, templateId } = template
  let from = template.status
  let moves = 0
  for (const to of steps) {
    const { count } = await store.moveTemplate(sql, {
      companyId,
      templateId,
      from,
      to,
      by,
      comment: to === steps.at(-1) ? comment : undefined,
      seen: template,
      now,
    })
    if (count === 0) break // someone else moved or changed it meanwhile
    from = to
    moves += 1
  }
  return moves
}

/** Submits a draft to staff: they decide on it also where moderation is automatic. */
export async function submitToStaff(sql: Sql, { companyId, templateId }: Template, now: Date): Promise<void> {
  await store.moveTemplate(sql, { companyId, templateId, from: 'DRAFT', to: 'PRE_REVIEW', by: 'staff', now })
}

/** Staff say yes, and record the operator's yes: what is left of the review is passed. */
export function approveTemplate(pool: Pool, templateId: number, now: Date, comment?: string): Promise<Template> {
  return decide(pool, templateId, async (sql, template) => {
    if (!isOneOf(template.status, reviewStates)) throw wrongState(template, 'approved')
    await walk(sql, template, stepsToApproval(template, now), { by: 'staff', comment, now })
  })
}

/** What is still being written, or has passed, is not under review. */
export function rejectTemplate(pool: Pool, templateId: number, comment: string, now: Date): Promise<Template> {
  return decide(pool, templateId, async (sql, template) => {
    if (!isOneOf(template.status, waitingStates)) throw wrongState(template, 'rejected')
    await store.moveTemplate(sql, { ...template, from: template.status, to: 'REJECTED', by: 'staff', comment, now })
  })
}

export function denyTemplate(
  pool: Pool,
  templateId: number,
  comment: string | undefined,
  now: Date,
): Promise<Template> {
  return decide(pool, templateId, async (sql, template) => {
    if (isOneOf(template.status, ['CLOSED', 'DENIED'])) throw wrongState(template, 'denied')
    await store.moveTemplate(sql, { ...template, from: template.status, to: 'DENIED', by: 'staff', comment, now })
  })
}

type Decision = (sql: Transaction, template: Template) => Promise<void>

function decide(pool: Pool, templateId: number, decision: Decision): Promise<Template> {
  return pool.begin(async sql => {
    const [owner] = await store.selectCompanyOf(sql, templateId)
    if (!owner) throw notFound('Template')
    const [template] = await store.selectTemplateForUpdate(sql, owner.companyId, templateId)
    await decision(sql, template!)
    const [decided] = await store.selectTemplate(sql, owner.companyId, templateId)
    return decided!
  })
}

const isOneOf = (status: TemplateStatus, states: readonly TemplateStatus[]) => states.includes(status)

const wrongState = (template: Template, what: string) =>
  invalid(`Template ${template.templateId} is ${template.status} and cannot be ${what}`)
