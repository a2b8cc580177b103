import type { ChannelType, TrafficType } from '../../base/channel-types.ts'
import { compileTemplate } from '../../base/text-template.ts'
import { type CompanyBudget, Effort, forAllTemplates } from '../templates/effort.ts'
import { type ApprovedTemplate, matchTexts } from '../templates/matching.ts'
import type { About, Recipient } from './dispatch.ts'

/** What a dispatch is about when no template says so, and a message that does not fit it. */
export const USUAL: TrafficType = 'PROMO'

/**
 * What a dispatch is about: the type of the approved template that its text can match. A placeholder may stand for a
 * word or a number, so the text is tried with what its first recipient has for it, and with either in all its places.
 * That is a guess: each recipient's own text is held to the template when it is taken in. A text that the first recipient
 * has instead says nothing of the others'.
 */
export async function aboutOf(
  templates: readonly ApprovedTemplate[],
  dispatch: { channelType: ChannelType; text: string; senderName?: string | null },
  first: Recipient | undefined,
  budget: CompanyBudget,
): Promise<About> {
  if (templates.length === 0) return { trafficType: USUAL, templateId: null }
  const template = compileTemplate(dispatch.text)
  const filled = (value: string) => template.render(Object.fromEntries(template.names.map(name => [name, value])))
  const { channelType, senderName } = dispatch
  const texts = [template.render(first?.substitutions), filled('word'), filled('1')]
    .filter(text => text !== undefined)
    .map(text => ({ channelType, senderName, text }))
  const matches = await matchTexts(templates, texts, new Effort(forAllTemplates, budget))
  const match = texts.flatMap(text => matches.get(text) ?? [])[0]
  if (!match) return { trafficType: USUAL, templateId: null }
  return { trafficType: match.template.trafficType, templateId: match.template.templateId }
}
