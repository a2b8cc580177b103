import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Pool, Sql } from '../../db/sql.ts'
import type { ApprovedTemplate } from './matching.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import * as store from './store.ts'
import type { Template } from './template.ts'

/** The approved templates of a company at one version, the most urgent first. */
export type TemplateSet = { version: number; templates: ApprovedTemplate[] }

/** The approved templates changed after messages were drafted with them. The drafts must be made again. */
export class TemplatesChanged extends Error {}

const FRESH_MS = 1000
const MOST_COMPANIES = 1000

/** `set` is present after `reading` is done. */
type Entry = { loadedAt: number; reading: Promise<TemplateSet>; set?: TemplateSet }

/** A cache for each pool, so that two databases in one process do not mix. */
const loaded = new WeakMap<Pool, LRUCache<number, Entry>>()

/**
 * The approved templates of a company, at most a second old, for drafts. The transaction that accepts the drafts must
 * compare the version, because another process may have approved or denied a template meanwhile. This function uses a
 * connection of the pool, so call it before a transaction begins.
 */
export async function approvedTemplates(pool: Pool, companyId: number, now: Date): Promise<TemplateSet> {
  const entries = entriesOf(pool)
  const kept = entries.get(companyId)
  const entry = kept && isFresh(kept, now) ? kept : startReading(pool, companyId, now)
  try {
    return validAt(await entry.reading, now)
  } catch (error) {
    if (entries.get(companyId) === entry) entries.delete(companyId) // the next request reads again
    throw error
  }
}

/**
 * The current approved templates of a company, for use within a transaction. The transaction reads the version. It
 * reads the templates only if memory has another version.
 */
export async function currentTemplates(sql: Sql, pool: Pool, companyId: number, now: Date): Promise<TemplateSet> {
  const kept = entriesOf(pool).get(companyId)
  const [row] = await store.selectVersion(sql, companyId)
  if (kept?.set && isFresh(kept, now) && kept.set.version === row!.version) return validAt(kept.set, now)
  // The cache gets the set only after it is read, because this transaction may fail.
  const set = await readTemplates(sql, companyId, kept?.set)
  entriesOf(pool).set(companyId, { loadedAt: now.getTime(), reading: Promise.resolve(set), set })
  return validAt(set, now)
}

/** Throws if the approved templates of a company have another version now. */
export async function refuseChangedTemplates(sql: Sql, companyId: number, version: number): Promise<void> {
  const [row] = await store.selectVersion(sql, companyId)
  if (row!.version !== version) throw new TemplatesChanged()
}

/** The next request reads the company's templates again. */
export const forgetTemplates = (pool: Pool, companyId: number) => void entriesOf(pool).delete(companyId)

function entriesOf(pool: Pool): LRUCache<number, Entry> {
  const entries = loaded.get(pool) ?? new LRUCache<number, Entry>({ max: MOST_COMPANIES })
  loaded.set(pool, entries)
  return entries
}

/**
 * The sender name of a template may be renamed without a new version, so an entry is used for at most a second.
 */
const isFresh = ({ loadedAt }: Entry, now: Date) => Math.abs(now.getTime() - loadedAt) < FRESH_MS

function startReading(pool: Pool, companyId: number, now: Date): Entry {
  const entries = entriesOf(pool)
  const known = entries.get(companyId)?.set
  const entry: Entry = { loadedAt: now.getTime(), reading: readTemplates(pool, companyId, known) }
  entry.reading.then(
    set => void Object.assign(entry, { set }),
    () => {}, // every request that awaits `reading` gets the error
  )
  entries.set(companyId, entry)
  return entry
}

/** One statement reads version and templates, so they belong together. Unchanged patterns are not compiled again. */
async function readTemplates(sql: Sql, companyId: number, known: TemplateSet | undefined): Promise<TemplateSet> {
  const rows = await store.selectApproved(sql, companyId)
  const { version } = rows[0]!
  const templates = rows.filter(isTemplate).map(factsOf)
  if (known && isDeepStrictEqual(known.templates.map(factsOf), templates)) return { ...known, version }
  const patterns = new Map(known?.templates.map(({ pattern, compiled }) => [pattern, compiled]))
  return { version, templates: templates.map(template => compiled(template, patterns)) }
}

/** A company without approved templates has one row, which has only the version. */
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

/** After `validTo` a template stays APPROVED until the engine closes it. It must not match any more in this time. */
function validAt(set: TemplateSet, now: Date): TemplateSet {
  const isValid = ({ validTo }: ApprovedTemplate) => validTo === null || validTo > now
  return set.templates.every(isValid) ? set : { ...set, templates: set.templates.filter(isValid) }
}

/** A template that was matched before, in any status: its text was approved and does not change. */
export async function matchedTemplate(sql: Sql, companyId: number, templateId: number): Promise<ApprovedTemplate> {
  const [template] = await matchedTemplates(sql, companyId, [templateId])
  return template!
}

/** Templates that were matched before, in any status. Ids that the company does not have are left out. */
export const matchedTemplates = async (
  sql: Sql,
  companyId: number,
  templateIds: number[],
): Promise<ApprovedTemplate[]> =>
  (await store.selectTemplatesByIds(sql, companyId, templateIds)).map(template => compiled(factsOf(template)))
