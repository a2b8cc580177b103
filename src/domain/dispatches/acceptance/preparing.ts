import { compileTemplate } from '../../../base/content/text-template.ts'
import type { Sql } from '../../../db/sql.ts'
import { blacklistedAmong } from '../../blacklist/blacklist.ts'
import type { Company } from '../../companies/company.ts'
import { refuseForeignNames } from '../../gateways/name-owners.ts'
import type { Classified, Numbering } from '../../numbering/numbering.ts'
import { openPriceBook } from '../../pricing/pricing.ts'
import { type Routing, requireUsableName, requireUsableSenders, routeBy, routeFreely } from '../../routing/routing.ts'
import { sendersByIds, sendersByNames } from '../../senders/senders.ts'
import { matchedTemplate } from '../../templates/approved.ts'
import { Effort, forOneTemplate } from '../../templates/effort.ts'
import type { CascadeStep, Dispatch, Recipient } from '../dispatch.ts'
import { classifyAll } from './acceptance.ts'
import type { AcceptanceRules, LaterStep } from './acceptance-rules.ts'
import { templatesNamedBy } from './named-templates.ts'
import { zoneChooser } from './schedule.ts'
import { compileContent } from './step-content.ts'

/** The fields of a dispatch that acceptance needs. A dispatch that is not stored yet has them too. */
type AcceptingDispatch = Pick<Dispatch, 'channelType' | 'senderIds' | 'text' | 'trafficType' | 'templateId'> &
  Partial<Pick<Dispatch, 'senderName' | 'options' | 'cascade'>>

export type PreparationRequest = {
  company: Company
  dispatch: AcceptingDispatch
  recipients: Recipient[]
  linkBase?: string
}

export type PreparedAcceptance = {
  rules: AcceptanceRules
  numbers: Classified[]
  dispatch: AcceptingDispatch
  linkBase: string | undefined
}

/** Reads the rules for the recipients. Refuses a request that has an unusable sender. */
export async function prepareAcceptance(
  sql: Sql,
  numbering: Numbering,
  request: PreparationRequest,
): Promise<PreparedAcceptance> {
  const { company, dispatch, recipients } = request
  const { companyId, partnerId } = company
  const routing = await routingOf(sql, companyId, dispatch)
  const numbers = await classifyAll(numbering, recipients)
  const linkBase = dispatch.options?.shortUrl ? request.linkBase : undefined
  const rules: AcceptanceRules = {
    channelType: dispatch.channelType,
    trafficType: dispatch.trafficType,
    template: compileTemplate(dispatch.text),
    approvedTemplate: await approvedTemplateOf(sql, companyId, dispatch),
    effort: new Effort(forOneTemplate),
    content: dispatch.cascade?.[0]?.content ?? null,
    fillContent: compileContent(dispatch.cascade?.[0]?.content),
    laterSteps: await laterStepsOf(sql, companyId, (dispatch.cascade ?? []).slice(1)),
    routing,
    prices: await openPriceBook(sql, partnerId),
    blacklisted: await blacklistedAmong(sql, companyId, numbers.flatMap(digitsOf)),
    zoneOf: zoneChooser(dispatch.options ?? null),
    linkBase,
  }
  return { rules, numbers, dispatch, linkBase }
}

/** A partner names senders. A client names a sender name, and each of its registrations serves the numbers of its operator. */
async function routingOf(sql: Sql, companyId: number, dispatch: AcceptingDispatch): Promise<Routing> {
  const { channelType, senderName, senderIds } = dispatch
  if (!senderName) {
    const found = await sendersByIds(sql, companyId, senderIds)
    return routeBy(channelType, requireUsableSenders(found, senderIds, channelType))
  }
  await refuseForeignNames(sql, companyId, [{ channelType, senderName }])
  const ofName = await sendersByNames(sql, companyId, [senderName])
  const senders = requireUsableName(ofName, { channelType, senderName })
  return senders.length > 0 ? routeBy(channelType, senders) : routeFreely()
}

/**
 * The template of the dispatch is the only template that its texts are compared with. A company may have hundreds of
 * templates and a request many thousands of recipients, so comparing with all of them would take too long.
 */
async function approvedTemplateOf(
  sql: Sql,
  companyId: number,
  { templateId }: AcceptingDispatch,
): Promise<AcceptanceRules['approvedTemplate']> {
  return templateId === null ? undefined : matchedTemplate(sql, companyId, templateId)
}

async function laterStepsOf(sql: Sql, companyId: number, steps: CascadeStep[]): Promise<LaterStep[]> {
  const namedOf = await templatesNamedBy(sql, companyId, steps)
  return steps.map(({ channelType, text, content }) => ({
    channelType,
    template: compileTemplate(text),
    content,
    fillContent: compileContent(content),
    named: namedOf(content),
  }))
}

const digitsOf = (number: Classified) => (number.kind === 'refused' ? [] : number.digits)
