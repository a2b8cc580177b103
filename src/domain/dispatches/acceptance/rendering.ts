import type { Content, TemplateContent } from '../../../base/content/content.ts'
import { rejection } from '../../messages/message.ts'
import { randomCode, shortenLinks } from '../../short-links/short-link.ts'
import type { Effort } from '../../templates/effort.ts'
import { type ApprovedTemplate, asMessengerTemplate, fitTemplate, type Match } from '../../templates/matching.ts'
import { fillTemplate, withMessengerTemplate } from '../../templates/named.ts'
import { fillPlaces, placesIn } from '../../templates/pattern.ts'
import type { Recipient } from '../dispatch.ts'
import type { AcceptanceRules } from './acceptance-rules.ts'
import { withText } from './step-content.ts'
import { longestRenderedText } from './text-limits.ts'

type Link = { code: string; url: string }

/** The text and content of one recipient, with the short links in them and the approved template that they match. */
export type Rendered = {
  text: string
  links: readonly Link[]
  content: Content | null
  template?: ApprovedTemplate | undefined
}

/** Renders the text and content of one recipient, or returns the error code of the rejection. */
export type Render = (recipient: Recipient) => Rendered | number

export function createRenderer(rules: AcceptanceRules): Render {
  const { approvedTemplate, content } = rules
  if (approvedTemplate && content?.contentType === 'template' && hasPlacesFor(approvedTemplate, content)) {
    return templateRenderer(rules, approvedTemplate, content)
  }
  return textRenderer(rules)
}

/** False for a dispatch of an older version, whose template only matched its text and was not named by the content. */
const hasPlacesFor = ({ pattern }: ApprovedTemplate, { parameters }: TemplateContent) =>
  placesIn(pattern).length === (parameters ?? []).length

const NO_LINKS: readonly Link[] = []

/** Renders the text of the dispatch or the custom text of the recipient. */
function textRenderer(rules: AcceptanceRules): Render {
  const { approvedTemplate, linkBase, fillContent, effort } = rules
  const most = longestRenderedText(rules.channelType, linkBase)
  const sharedContent = hasOwnContents(rules) ? rules.content : undefined // equal for all recipients except its short links

  return ({ customText, substitutions }) => {
    const rendered = customText ?? rules.template.render(substitutions, most)
    if (rendered === undefined) return rejection.noSubstitution
    if (rendered.length > most) return rejection.badText // the template stops rendering at the limit
    const filled = fillContent ? fillContent(substitutions) : sharedContent
    if (typeof filled === 'number') return filled
    const shortened = linkBase ? shortenLinks(rendered, randomCode, linkBase) : undefined
    const text = shortened?.text ?? rendered
    const match = approvedTemplate && matchOf(approvedTemplate, text, rendered, effort)
    const own =
      filled && withText(shortened && linkBase ? withShortLinks(filled, shortened.links, linkBase) : filled, text)
    const content = contentByTemplate(own ?? rules.content, text, match) ?? own ?? null
    return { text, links: shortened?.links ?? NO_LINKS, content, template: match?.template }
  }
}

/** Renders a first step that names a registered template. Its text is the pattern, filled for each recipient. */
function templateRenderer(
  { fillContent, linkBase }: AcceptanceRules,
  template: ApprovedTemplate,
  given: TemplateContent,
): Render {
  return ({ customText, substitutions }) => {
    const content = fillContent ? fillContent(substitutions) : given
    if (typeof content === 'number') return content
    if (content.contentType !== 'template') throw new Error('Filling a template content changed its type')
    const filled = fillTemplate(template, content.parameters ?? [])
    if (typeof customText === 'string' || 'field' in filled) return rejection.badText
    if (!filled.fits && typeof given.templateId === 'number') return rejection.badText
    const links: Link[] = []
    const short = linkBase ? withShortParameters(content, links, linkBase) : content
    return {
      text: fillPlaces(template.pattern, short.parameters ?? []),
      links,
      content: withMessengerTemplate(short, template),
      template: filled.fits ? template : undefined,
    }
  }
}

/** Whether each message has its own content: filled for its recipient, or with its own short links. */
export function hasOwnContents({ fillContent, content, linkBase }: AcceptanceRules): boolean {
  if (fillContent) return true
  if (!linkBase || !content) return false
  const links: Link[] = []
  withShortLinks(content, links, linkBase)
  return links.length > 0
}

/** Compares the text with short links first, because the message shows them. A template may also contain the long links. */
function matchOf(template: ApprovedTemplate, text: string, rendered: string, effort: Effort | undefined) {
  effort?.begin(rendered.length)
  const match =
    fitTemplate(template, text, effort) ?? (text === rendered ? undefined : fitTemplate(template, rendered, effort))
  effort?.check()
  return match
}

const withShortLinks = (content: Content, links: Link[], linkBase: string): Content =>
  content.contentType === 'template' ? withShortParameters(content, links, linkBase) : content

/** Replaces links in the parameters. A link that the text has too gets the same code; other links are added to `links`. */
function withShortParameters(content: TemplateContent, links: Link[], linkBase: string): TemplateContent {
  if (!content.parameters) return content
  const codeOf = (url: string) => {
    const link = links.find(known => known.url === url) ?? { code: randomCode(), url }
    if (!links.includes(link)) links.push(link)
    return link.code
  }
  return { ...content, parameters: content.parameters.map(text => shortenLinks(text, codeOf, linkBase).text) }
}

/** A text that matches a template of the messenger is sent as that template. */
function contentByTemplate(
  content: Content | null | undefined,
  text: string,
  match: Match | undefined,
): Content | undefined {
  if (!match) return undefined
  const given = content ?? { contentType: 'text' as const, text }
  return given.contentType === 'text' ? asMessengerTemplate({ ...given, text }, match) : undefined
}
