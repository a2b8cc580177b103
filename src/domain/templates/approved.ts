import { isDeepStrictEqual } from 'node:util'
import type { Pool, Sql } from '../../db/sql.ts'
import type { ApprovedTemplate } from './matching.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import * as store from './store.ts'
import type { Template } from './template.ts'

/** The approved templates of a company, the most urgent first, as they were at one version. */
export type TemplateSet = { version: number; templates: ApprovedTemplate[] }

/** The templates that messages were drafted with are not the approved ones any more: the drafts must be made again. */
export class TemplatesChanged extends Error {}

const FRESH_MS = 1000
const MOST_COMPANIES = 1000

/** `set` once it has been read. */
type Entry = { loadedAt: number; reading: Promise<TemplateSet>; set?: TemplateSet }

/** By the pool they came from, so that two databases in one process do not mix. */
const loaded = new WeakMap<Pool, Map<number, Entry>>()

/**
 * The approved templates of a company, as read within the last second: for drafts. The transaction that accepts the
 * drafts must compare the version, because another process may have approved or denied a template meanwhile. Asks the
 * pool, so call it before a transaction begins.
 */
export async function approvedTemplates(pool: Pool, companyId: number, now: Date): Promise<TemplateSet> {
  const entries = entriesOf(pool)
  const kept = entries.get(companyId)
  const entry = kept && isFresh(kept, now) ? kept : startReading(pool, companyId, now)
  try {
    return validAt(await entry.reading, now)
  } catch (error) {
    if (entries.get(companyId) === entry) entries.delete(companyId) // the next request asks again
    throw error
  }
}

/**
 * The approved templates of a company as they are now, for use within a transaction: the version is read in it, and the
 * templates only when they are not in memory at that version.
 */
export async function currentTemplates(sql: Sql, pool: Pool, companyId: number, now: Date): Promise<TemplateSet> {
  const kept = entriesOf(pool).get(companyId)
  const [row] = await store.selectVersion(sql, companyId)
  if (kept?.set && isFresh(kept, now) && kept.set.version === row!.version) return validAt(kept.set, now)
  // Others get it only once it is read: this transaction may fail.
  const set = await readTemplates(sql, companyId, kept?.set)
  keep(entriesOf(pool), companyId, { loadedAt: now.getTime(), reading: Promise.resolve(set), set })
  return validAt(set, now)
}

/** Throws when the approved templates of a company are no longer those of this version. */
export async function refuseChangedTemplates(sql: Sql, companyId: number, version: number): Promise<void> {
  const [row] = await store.selectVersion(sql, companyId)
  if (row!.version !== version) throw new TemplatesChanged()
}

/** The next request reads the company's templates again. */
export const forgetTemplates = (pool: Pool, companyId: number) => void entriesOf(pool).delete(companyId)

function entriesOf(pool: Pool): Map<number, Entry> {
  const entries = loaded.get(pool) ?? new Map<number, Entry>()
  loaded.set(pool, entries)
  return entries
}

/**
 * A sender name that a template is bound to may be renamed without a new version, so an entry counts for a second at
 * most.
 */
const isFresh = ({ loadedAt }: Entry, now: Date) => Math.abs(now.getTime() - loadedAt) < FRESH_MS

function startReading(pool: Pool, companyId: number, now: Date): Entry {
  const entries = entriesOf(pool)
  const known = entries.get(companyId)?.set
  const entry: Entry = { loadedAt: now.getTime(), reading: readTemplates(pool, companyId, known) }
  entry.reading.then(
    set => void Object.assign(entry, { set }),
    () => {}, // every request that waits for it is told
  )
  keep(entries, companyId, entry)
  return entry
}

/** A map keeps the order in which entries came: the first is the oldest. */
function keep(entries: Map<number, Entry>, companyId: number, entry: Entry) {
  entries.delete(companyId)
  entries.set(companyId, entry)
  if (entries.size > MOST_COMPANIES) entries.delete(entries.keys().next().value!)
}

/** Version and templates come from one statement, so they belong together. What has not changed is not compiled again. */
async function readTemplates(sql: Sql, companyId: number, known: TemplateSet | undefined): Promise<TemplateSet> {
  const rows = await store.selectApproved(sql, companyId)
  const { version } = rows[0]!
  const templates = rows.filter(isTemplate).map(factsOf)
  if (known && isDeepStrictEqual(known.templates.map(factsOf), templates)) return { ...known, version }
  const patterns = new Map(known?.templates.map(({ pattern, compiled }) => [pattern, compiled]))
  return { version, templates: templates.map(template => compiled(template, patterns)) }
}

/** A company without approved templates has one row, with the version alone. */
const isTemplate = (row: store.ApprovedRow): row is Template & { version: number } => row.templateId !== null

const factsOf = (template: Omit<ApprovedTemplate, 'compiled'>): Omit<ApprovedTemplate, 'compiled'> => ({
  templateId: template.templateId,
  channelType: template.channelType,
  trafficType: template.trafficType,
  pattern: template.pattern,
  senderName: template.senderName,
  content: template.content,
  validTo: template.validTo,
})

/** `known`: patterns that are compiled already. */
const compiled = (
  template: Omit<ApprovedTemplate, 'compiled'>,
  known: ReadonlyMap<string, Pattern> = new Map(),
): ApprovedTemplate => ({
  ...template,
  compiled: known.get(template.pattern) ?? compilePattern(template.pattern),
})

/** Between its last moment and the clock's move to CLOSED a template is still APPROVED, but does not act. */
function validAt(set: TemplateSet, now: Date): TemplateSet {
  const isValid = ({ validTo }: ApprovedTemplate) => validTo === null || validTo > now
  return set.templates.every(isValid) ? set : { ...set, templates: set.templates.filter(isValid) }
}

/** One that was matched before, whatever has become of it since: what it says was reviewed and stays. */
export async function templateAgain(sql: Sql, companyId: number, templateId: number): Promise<ApprovedTemplate> {
  const [template] = await templatesAgain(sql, companyId, [templateId])
  return template!
}

/** The same for several; those that the company does not have are left out. */
export const templatesAgain = async (sql: Sql, companyId: number, templateIds: number[]): Promise<ApprovedTemplate[]> =>
  (await store.selectTemplatesByIds(sql, companyId, templateIds)).map(template => compiled(factsOf(template)))
