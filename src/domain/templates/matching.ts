import type { ChannelType } from '../../base/channel-types.ts'
import type { TextContent } from '../../base/content.ts'
import { type Effort, fitPattern, type Pattern, plainText } from './pattern.ts'
import type { Template } from './template.ts'

/** An approved template, ready to be held against texts. */
export type ApprovedTemplate = Pick<
  Template,
  'templateId' | 'channelType' | 'templateType' | 'pattern' | 'senderName' | 'content' | 'dateTo'
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
