import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import { compileTemplate } from '../../base/text-template.ts'
import type { Pool } from '../../db/sql.ts'
import { type ApprovedTemplate, approvedTemplates, matchingTemplate } from '../templates/matching.ts'
import type { Recipient } from './dispatch.ts'

/** What a dispatch is about when no template says so. */
const USUAL: TrafficType = 'PROMO'

/** Asks the pool, so before a transaction begins. */
export const templatesOf = (pool: Pool, companyId: number) => approvedTemplates(pool, companyId, new Date())

/**
 * What a dispatch is about: the type of the approved template that its text matches. A placeholder may stand for a word
 * or a number, so the text is tried with either in all its places, and as its first recipient would get it.
 */
export function trafficTypeOf(
  templates: readonly ApprovedTemplate[],
  dispatch: { channelType: ChannelType; text: string; senderName?: string | null },
  first: Recipient | undefined,
): TrafficType {
  if (templates.length === 0) return USUAL
  const template = compileTemplate(dispatch.text)
  const filled = (value: string) => template.render(Object.fromEntries(template.names.map(name => [name, value])))
  const texts = [first?.customText ?? template.render(first?.substitutions), filled('word'), filled('1')]
  const { channelType, senderName } = dispatch
  for (const text of texts) {
    const match = text && matchingTemplate(templates, { channelType, senderName: senderName ?? undefined, text })
    if (match) return match.template.templateType
  }
  return USUAL
}
