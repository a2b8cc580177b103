import { refusalOfText } from '../../base/content/channel-text.ts'
import type { MessengerTemplateCall, TemplateContent } from '../../base/content/content.ts'
import type { FieldMistake } from '../../base/field-mistake.ts'
import type { ApprovedTemplate } from './matching.ts'
import { compilePattern, fillPlaces, fitPattern, type Pattern, placesIn, plainText } from './pattern.ts'
import type { Template } from './template.ts'

/** The template that a content names (by our id or by its name at Meta), filled with the content's parameters. */
export type FilledTemplate = {
  template: ApprovedTemplate
  /** The text that the subscriber reads. */
  text: string
  /** Whether every value fits its place. If not, the text is not the approved text. */
  fits: boolean
}

/**
 * The approved template that a content names, or the reason why it cannot be used. Undefined for a name at Meta that is
 * not registered here. For an id all parameters must fit. For a registered name the number of parameters must be right,
 * because Meta refuses any other number. Meta accepts other values, so such a content is sent, but not as the approved
 * text.
 */
export function fillNamed(
  templates: readonly ApprovedTemplate[],
  content: TemplateContent,
  senderName: string | undefined,
): FilledTemplate | FieldMistake | undefined {
  const found = namedBy(templates, content, senderName)
  if (!found || 'field' in found) return found
  const filled = fillTemplate(found.template, content.parameters ?? [])
  if ('field' in filled || filled.fits || typeof content.templateId === 'string') return filled
  return wrongParameter(found.template, content.parameters ?? [])
}

function namedBy(
  templates: readonly ApprovedTemplate[],
  { templateId, parameters }: TemplateContent,
  senderName: string | undefined,
): { template: ApprovedTemplate } | FieldMistake | undefined {
  if (typeof templateId === 'number') return withId(templates, templateId, senderName)
  const called = calledBy(templates, templateId).filter(template => serves(template, senderName))
  const languages = new Set(called.map(({ content }) => content!.language))
  if (languages.size > 1) return severalLanguages(templateId, languages)
  const template = bestOf(called.slice(0, MOST_TEXTS), parameters ?? [])
  return template && { template }
}

/** One template of Meta may be registered with several texts. More than these would take too long to match. */
const MOST_TEXTS = 10

/** The first template that the values fit, else the first with the same number of places, else the first. */
function bestOf(called: ApprovedTemplate[], values: readonly string[]): ApprovedTemplate | undefined {
  const withPlaces = called.filter(({ pattern }) => placesIn(pattern).length === values.length)
  return withPlaces.find(({ pattern }) => misfit(pattern, values) < 0) ?? withPlaces[0] ?? called[0]
}

function withId(templates: readonly ApprovedTemplate[], templateId: number, senderName: string | undefined) {
  const template = templates.find(each => each.templateId === templateId)
  if (template?.channelType !== 'WHATSAPP') return whyUnusable(templateId, template)
  if (serves(template, senderName)) return { template }
  return wrongTemplate(`template ${templateId} is for the sender name ${template.senderName}`)
}

const serves = (template: ApprovedTemplate, senderName: string | undefined) =>
  template.senderName === null || template.senderName === senderName

/** `name`, or `name:language`: names have no colon. Only templates of WHATSAPP have a content. */
function calledBy(templates: readonly ApprovedTemplate[], templateId: string): ApprovedTemplate[] {
  const [name, language] = templateId.split(':', 2)
  return templates.filter(
    ({ content }) => content !== null && content.name === name && (!language || content.language === language),
  )
}

const wrongTemplate = (reason: string): FieldMistake => ({ field: 'content.templateId', reason })

const severalLanguages = (name: string, languages: Set<string>) =>
  wrongTemplate(
    `"${name}" is registered in several languages: write one of ` +
      [...languages].map(language => `"${name}:${language}"`).join(', '),
  )

/** The reason why a message cannot use the template with this id. `known`: the template, if the company has it. */
export function whyUnusable(
  templateId: number,
  known: (Pick<Template, 'channelType'> & Partial<Pick<Template, 'status'>>) | undefined,
): FieldMistake {
  const template = `template ${templateId}`
  if (!known) {
    return wrongTemplate(
      `the company has no ${template}: use the id of a registered template, ` +
        "or the template's own name at Meta as a string",
    )
  }
  if (known.channelType !== 'WHATSAPP')
    return wrongTemplate(`${template} is for ${known.channelType}: use one for WHATSAPP`)
  if (known.status === 'APPROVED')
    return wrongTemplate(`${template} is not valid today: its first day has not come, or its last day is over`)
  const isOver = known.status === 'CLOSED' || known.status === 'DENIED' || known.status === 'REJECTED'
  const advice = isOver ? 'use an APPROVED template' : 'it can be used once it is APPROVED'
  return wrongTemplate(`${template} is ${known.status}: ${advice}`)
}

/** Fills a template with any values. Only their number and the length of the text must be right. */
export function fillTemplate(template: ApprovedTemplate, values: readonly string[]): FilledTemplate | FieldMistake {
  const places = placesIn(template.pattern)
  if (places.length !== values.length) {
    const inWords = places.length > 0 ? ` (${places.join(', ')})` : ''
    const reason = `template ${template.templateId} has ${places.length} places${inWords}, not ${values.length}`
    return { field: 'content.parameters', reason }
  }
  const text = fillPlaces(template.pattern, values)
  const tooLong = refusalOfText(template.channelType, text)
  if (tooLong) return { field: 'content.parameters', reason: `the filled text ${tooLong}` }
  return { template, text, fits: misfit(template.pattern, values) < 0 }
}

/** The index of the first value that does not fit its place, or -1. White space around a value is ignored. */
const misfit = (pattern: string, values: readonly string[]) =>
  placesIn(pattern).findIndex((place, i) => !fitPattern(patternOfPlace(place), plainText(values[i]!)))

/** A cache of at most about two hundred different places. */
const placePatterns = new Map<string, Pattern>()

function patternOfPlace(place: string): Pattern {
  const pattern = placePatterns.get(place) ?? compilePattern(place)
  placePatterns.set(place, pattern)
  return pattern
}

function wrongParameter({ templateId, pattern }: ApprovedTemplate, values: readonly string[]): FieldMistake {
  const at = misfit(pattern, values)
  const place = placesIn(pattern)[at]!
  const reason = `must be ${inWords(place)}, as template ${templateId} says (${place})`
  return { field: `content.parameters[${at}]`, reason }
}

function inWords(place: string): string {
  const most = /\d+(?=\}$)/.exec(place)?.[0]
  if (place.startsWith('%w')) return most ? `1 to ${most} words` : 'one word'
  return most ? `1 to ${most} digits` : 'a number'
}

/** Adds the messenger's own template to the content. The content is unchanged if the messenger has none. */
export function withMessengerTemplate(content: TemplateContent, { content: own }: ApprovedTemplate): TemplateContent {
  if (!own) return content
  const { parameters } = content
  const call: MessengerTemplateCall = {
    templateId: `${own.name}:${own.language}`,
    ...(parameters ? { parameters } : {}),
  }
  return { ...content, template: call }
}
