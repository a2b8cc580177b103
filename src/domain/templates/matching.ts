import type { ChannelType } from '../../base/channel-types.ts'
import type { TextContent } from '../../base/content.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { compilePattern, type Effort, fitPattern, type Pattern, plainText } from './pattern.ts'
import * as store from './store.ts'
import type { Template } from './template.ts'

/** An approved template, ready to be held against texts. */
export type ApprovedTemplate = Pick<
  Template,
  'templateId' | 'channelType' | 'templateType' | 'senderName' | 'content'
> & { compiled: Pattern }

/** What stands at the template's places is what a messenger's own template is filled with. */
export type Match = { template: ApprovedTemplate; values: string[] }

/**
 * 500 templates that all share their first 700 characters with the text take 520,000 steps, usual ones a few thousand.
 * What is not decided within this many matches nothing, so that hostile templates cannot hold up the others' messages.
 */
const MOST_STEPS = 1_000_000

/**
 * The template that a text matches; its type is what the text is about. Where several match, the first in the order of
 * `approvedTemplates` counts: the most urgent, then the oldest. A template bound to a sender name is for texts under that
 * name alone; one bound to none is for all.
 */
export function matchingTemplate(
  templates: readonly ApprovedTemplate[],
  { channelType, senderName, text }: { channelType: ChannelType; senderName?: string | undefined; text: string },
  effort: Effort = { steps: 0 },
): Match | undefined {
  const plain = plainText(text)
  for (const template of templates) {
    if (template.channelType !== channelType) continue
    if (template.senderName !== null && template.senderName !== senderName) continue
    if (effort.steps > MOST_STEPS) return undefined
    const values = fitPattern(template.compiled, plain, effort)
    if (values) return { template, values }
  }
  return undefined
}

/** Whether a text is still what the template says, and what then stands at its places. */
export function fitTemplate(template: ApprovedTemplate, text: string): Match | undefined {
  const values = fitPattern(template.compiled, plainText(text))
  return values && { template, values }
}

/** A free text goes out as the messenger's own template that says the same, filled. Undefined where there is none. */
export function saidByTemplate(content: TextContent, { template, values }: Match): TextContent | undefined {
  if (!template.content) return undefined
  const { name, language } = template.content
  return { ...content, template: { templateId: `${name}:${language}`, parameters: values } }
}

const FRESH_MS = 1000
const MOST_COMPANIES = 1000

type Entry = { loadedAt: number; templates: Promise<ApprovedTemplate[]> }

/** By the pool they came from, so that two databases in one process do not mix. */
const loaded = new WeakMap<Pool, Map<number, Entry>>()

/**
 * The templates of a company that are approved and valid now, the most urgent first, kept for at most a second. It asks
 * the pool: look them up before a transaction begins, not within one.
 */
export async function approvedTemplates(pool: Pool, companyId: number, now: Date): Promise<ApprovedTemplate[]> {
  const entries = loaded.get(pool) ?? new Map<number, Entry>()
  loaded.set(pool, entries)
  const kept = entries.get(companyId)
  if (kept && isFresh(kept, now)) return kept.templates

  const entry = { loadedAt: now.getTime(), templates: loadTemplates(pool, companyId, now) }
  keep(entries, companyId, entry)
  try {
    return await entry.templates
  } catch (error) {
    if (entries.get(companyId) === entry) entries.delete(companyId) // the next one asks again
    throw error
  }
}

const isFresh = ({ loadedAt }: Entry, now: Date) => Math.abs(now.getTime() - loadedAt) < FRESH_MS

/** A map keeps the order in which entries came: the first is the oldest. */
function keep(entries: Map<number, Entry>, companyId: number, entry: Entry) {
  entries.delete(companyId)
  entries.set(companyId, entry)
  if (entries.size > MOST_COMPANIES) entries.delete(entries.keys().next().value!)
}

/** The same, read anew: within a transaction, which must not ask for a second connection. */
export async function loadTemplates(sql: Sql, companyId: number, now: Date): Promise<ApprovedTemplate[]> {
  return (await store.selectApproved(sql, companyId, now)).map(readyToMatch)
}

/** One that was matched before, whatever has become of it since: what it says was reviewed and stays. */
export async function templateAgain(sql: Sql, companyId: number, templateId: number): Promise<ApprovedTemplate> {
  const [template] = await store.selectTemplate(sql, companyId, templateId)
  return readyToMatch(template!)
}

const readyToMatch = (template: Omit<ApprovedTemplate, 'compiled'> & Pick<Template, 'pattern'>): ApprovedTemplate => ({
  templateId: template.templateId,
  channelType: template.channelType,
  templateType: template.templateType,
  senderName: template.senderName,
  content: template.content,
  compiled: compilePattern(template.pattern),
})
