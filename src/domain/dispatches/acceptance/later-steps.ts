import type { TemplateContent } from '../../../base/content/content.ts'
import { rejection } from '../../messages/message.ts'
import { randomCode, shortenLinks } from '../../short-links/short-link.ts'
import type { ApprovedTemplate } from '../../templates/matching.ts'
import { fillTemplate } from '../../templates/named.ts'
import type { Recipient } from '../dispatch.ts'
import type { AcceptanceRules, LaterStep } from './acceptance-rules.ts'
import { isAllowedPartCount, longestRenderedText, partsOf } from './text-limits.ts'

/** Refuses a recipient that cannot get a later step of the cascade. Each step has the limits of its own channel. */
export function refuseLaterSteps({ substitutions }: Recipient, rules: AcceptanceRules): number | undefined {
  for (const step of rules.laterSteps) {
    const errorCode = refuseText(step, substitutions, rules.linkBase) ?? refuseContent(step, substitutions)
    if (errorCode !== undefined) return errorCode
  }
}

function refuseText(
  { channelType, template }: LaterStep,
  substitutions: Recipient['substitutions'],
  linkBase: string | undefined,
): number | undefined {
  const most = longestRenderedText(channelType, linkBase)
  const rendered = template.render(substitutions, most)
  if (rendered === undefined) return rejection.noSubstitution
  if (rendered.length > most) return rejection.badText
  const text = linkBase ? shortenLinks(rendered, randomCode, linkBase).text : rendered
  if (!isAllowedPartCount(partsOf(channelType, text))) return rejection.badText
}

function refuseContent(
  { content, fillContent, named }: LaterStep,
  substitutions: Recipient['substitutions'],
): number | undefined {
  const filled = fillContent ? fillContent(substitutions) : content
  if (typeof filled === 'number') return filled
  if (named && filled?.contentType === 'template' && !fitsNamed(named, filled)) return rejection.badText
}

function fitsNamed(template: ApprovedTemplate, { parameters }: TemplateContent): boolean {
  const filled = fillTemplate(template, parameters ?? [])
  return !('field' in filled) && filled.fits
}
