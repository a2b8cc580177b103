import type { ChannelType } from '../../base/channel-types.ts'
import type { TextContent } from '../../base/content/content.ts'
import { Automaton } from './automaton.ts'
import type { Effort } from './effort.ts'
import { fitPattern, type Pattern, plainText } from './pattern.ts'
import type { Template } from './template.ts'

/** An approved template with its compiled pattern. */
export type ApprovedTemplate = Pick<
  Template,
  'templateId' | 'channelType' | 'trafficType' | 'pattern' | 'senderName' | 'content' | 'validTo'
> & { compiled: Pattern }

/** `values`: the texts at the places. They fill the messenger's own template, if it has one. */
export type Match = { template: ApprovedTemplate; values: string[] }

export type MatchedText = { channelType: ChannelType; senderName?: string | null | undefined; text: string }

/**
 * Finds the template of each text, which gives the text its traffic type. If several templates match, the first in the
 * list is used: the most urgent, then the oldest. A template with a sender name is only for texts under that name; a
 * template without a name is for all texts. Other requests run in between. The effort throws if matching takes too
 * long.
 */
export async function matchTexts<T extends MatchedText>(
  templates: readonly ApprovedTemplate[],
  texts: readonly T[],
  effort: Effort,
): Promise<Map<T, Match>> {
  const matches = new Map<T, Match>()
  const known = new Map<string, ApprovedTemplate[]>() // many recipients often get the same text
  for (const one of texts) {
    const matcher = matcherOf(templates, one.channelType)
    if (!matcher) continue
    const key = `${one.channelType} ${one.text}`
    const fitting = known.get(key) ?? (await templatesThatFit(matcher, one.text, effort))
    known.set(key, fitting)
    const template = fitting.find(({ senderName }) => senderName === null || senderName === one.senderName)
    if (template) matches.set(one, matchWith(template, one.text, effort))
    await effort.pause()
  }
  effort.check()
  return matches
}

/** The templates that fit a text, in the order of the list. */
async function templatesThatFit({ automaton, templates }: Matcher, text: string, effort: Effort) {
  effort.begin(text.length)
  const reading = automaton.read(plainText(text))
  for (let isDone = false; !isDone; await effort.pause()) {
    const before = reading.steps
    isDone = automaton.advance(reading, effort.slice)
    effort.steps += reading.steps - before
  }
  return automaton
    .fitting(reading)
    .sort((a, b) => a - b)
    .map(place => templates[place]!)
}

const matchWith = (template: ApprovedTemplate, text: string, effort: Effort): Match => ({
  template,
  values: template.content ? (fitPattern(template.compiled, plainText(text), effort) ?? []) : [],
})

type Matcher = { automaton: Automaton; templates: ApprovedTemplate[] }

/** The key is the list of templates: the list stays the same object until a template changes. */
const matchers = new WeakMap<readonly ApprovedTemplate[], Map<ChannelType, Matcher>>()

function matcherOf(templates: readonly ApprovedTemplate[], channelType: ChannelType): Matcher | undefined {
  const byChannel = matchers.get(templates) ?? matchersFor(templates)
  matchers.set(templates, byChannel)
  return byChannel.get(channelType)
}

function matchersFor(templates: readonly ApprovedTemplate[]): Map<ChannelType, Matcher> {
  const byChannel = Map.groupBy(templates, ({ channelType }) => channelType)
  return new Map(
    [...byChannel].map(([channelType, ofChannel]) => [
      channelType,
      { automaton: automatonOf(ofChannel.map(({ compiled }) => compiled)), templates: ofChannel },
    ]),
  )
}

/**
 * The key is the first pattern. So a change that keeps the patterns, such as a new last day, makes no new automaton.
 */
const automata = new WeakMap<Pattern, { patterns: Pattern[]; automaton: Automaton }>()

function automatonOf(patterns: Pattern[]): Automaton {
  const known = automata.get(patterns[0]!)
  const isSame = known?.patterns.length === patterns.length && patterns.every((one, i) => one === known.patterns[i])
  if (known && isSame) return known.automaton
  const automaton = new Automaton(patterns)
  automata.set(patterns[0]!, { patterns, automaton })
  return automaton
}

/** The values at the places of the template if the text fits it. Undefined if it does not. */
export function fitTemplate(
  template: ApprovedTemplate,
  text: string,
  effort?: Pick<Effort, 'steps'>,
): Match | undefined {
  const values = fitPattern(template.compiled, plainText(text), effort)
  return values && { template, values }
}

/**
 * Replaces a free text by the messenger's own template with the same text, filled. Undefined if the messenger has none.
 */
export function asMessengerTemplate(content: TextContent, { template, values }: Match): TextContent | undefined {
  if (!template.content) return undefined
  const { name, language } = template.content
  return { ...content, template: { templateId: `${name}:${language}`, parameters: values } }
}
