import { trafficTypes } from '../../base/channel-types.ts'
import { refusalOfText } from '../../base/content/channel-text.ts'
import type { TemplateContent } from '../../base/content/content.ts'
import { smsParts } from '../../base/content/sms-text.ts'
import { errorCodes } from '../../base/error-codes.ts'
import type { FieldMistake } from '../../base/field-mistake.ts'
import { FOREIGN_NAME, type ForeignNames, isForeign } from '../gateways/name-owners.ts'
import { type MessageRequest, type NewSingle, type Refusal, stepsOf } from '../messages/single.ts'
import { classify, type Numbering } from '../numbering/numbering.ts'
import type { PriceBook } from '../pricing/pricing.ts'
import { brandIdOf, type KnownNumber, type NameRoutes, type Route } from '../routing/routing.ts'
import { randomCode, shortenLinks } from '../short-links/short-link.ts'
import type { Effort } from '../templates/effort.ts'
import { type ApprovedTemplate, asMessengerTemplate, type Match, matchTexts } from '../templates/matching.ts'
import { fillNamed, withMessengerTemplate } from '../templates/named.ts'
import { fillPlaces } from '../templates/pattern.ts'
import { scheduleOf } from './schedule.ts'

/** The data that a company's messages are checked against. It is read once for a group of requests. */
export type DraftContext = {
  routes: NameRoutes
  foreignNames: ForeignNames
  templates: ApprovedTemplate[]
  /** The template that the text of each message matches. */
  matches: ReadonlyMap<MessageRequest, Match>
  /** Why templates cannot be used, by their ids. It has the templates that messages name and that are not approved. */
  unusableTemplates?: ReadonlyMap<number, FieldMistake>
  prices: PriceBook
  numbering: Numbering
  /** The first part of short links. */
  linkBase: string
}

/** Every message of these channels is a code. */
const CODES = ['FLASHCALL', 'VOICECODE']
const MOST_PARTS = 10

/**
 * Finds the approved templates that the texts of messages match. A content that names its template is not matched by its
 * text.
 */
export async function matchRequests(templates: ApprovedTemplate[], requests: MessageRequest[], effortOf: () => Effort) {
  if (templates.length === 0) return new Map<MessageRequest, Match>()
  const byText = requests.filter(({ content }) => content?.contentType !== 'template')
  return matchTexts(templates, byText, effortOf())
}

/** Drafts a message, or the first message of a cascade. It drafts the later steps too, so that the client learns of mistakes at once. */
export function draftWhole(context: DraftContext, request: MessageRequest, now: Date): NewSingle | Refusal {
  if (!request.cascade || !('plan' in request.cascade))
    return draftSingle(context, request, now, context.matches.get(request))
  const steps = stepsOf(request)
  const matchOf = (step: number) => context.matches.get(steps[step]!)
  const draft = draftSingle(context, request, now, matchOf(0))
  if ('kind' in draft) return inStep(0, draft)
  for (let i = 1; i < steps.length; i++) {
    const tried = draftSingle(context, { ...steps[i]!, cascade: request.cascade }, now, matchOf(i))
    if ('kind' in tried) return inStep(i, tried)
  }
  return draft
}

/** Says which step is wrong. Sender name and content belong to a step, all other fields to the cascade. */
const inStep = (step: number, refusal: Refusal): Refusal =>
  refusal.why === 'invalid' && /^(senderName|content)\b/.test(refusal.field ?? '') ? { ...refusal, step } : refusal

/** Finds sender, text, schedule and price of one message, or refuses it. `match`: the template that its text matches. */
export function draftSingle(
  context: DraftContext,
  request: MessageRequest,
  now: Date,
  match: Match | undefined,
): NewSingle | Refusal {
  const number = classify(context.numbering, request.destination)
  if (number.kind === 'refused') return refused('destination', 'is no valid number', errorCodes.badNumber)
  const route = routeFor(context, request, number)
  if ('kind' in route) return route
  // The ttl of a cascade step begins with its submission. The ttl of a code begins now: the code must reach its number soon.
  const schedule = scheduleOf(
    request.cascade && !request.options.verification ? { ...request.options, ttl: null } : request.options,
    number,
    now,
  )
  if ('field' in schedule) return refused(schedule.field, schedule.reason)
  const { shorten, links } = request.options.shortUrl ? shortener(context.linkBase) : AS_IT_IS
  const said = saidBy(context, request, match, shorten)
  if ('kind' in said) return said
  const { text, content, template } = said
  const parts = request.channelType === 'SMS' ? smsParts(text) : 1
  if (text === '') return refused('content', 'must not be empty', errorCodes.badText)
  if (parts > MOST_PARTS)
    return refused('content', `the text has ${parts} parts, at most ${MOST_PARTS}`, errorCodes.badText)
  const trafficType = trafficTypeOf(request, template?.trafficType)
  const { tariffId, perPart } = priceOf(context.prices, request, number, route, trafficType)

  return {
    channelType: request.channelType,
    senderId: route.senderId,
    senderName: request.senderName,
    brandId: brandIdOf(number),
    priority: trafficTypes.indexOf(trafficType),
    destination: number.digits,
    text,
    parts,
    tariffId,
    price: perPart * BigInt(parts),
    content,
    trafficType,
    templateId: template?.templateId ?? null,
    externalId: request.externalId,
    centerId: request.centerId,
    method: request.method,
    keyId: request.keyId,
    options: schedule.window ? { ...request.options, window: schedule.window } : request.options,
    callbackUrl: request.callbackUrl,
    callbackEvents: request.callbackEvents,
    sendAt: schedule.sendAt,
    completeBy: schedule.completeBy,
    expiresAt: schedule.expiresAt,
    endsEarly: schedule.endsEarly,
    links: links(),
    ...(request.cascade ? { cascade: request.cascade } : {}),
    ...(request.sealed ? { sealed: request.sealed } : {}),
    ...(request.code ? { code: request.code } : {}),
  }
}

type Shorten = (text: string) => string

const AS_IT_IS = { shorten: (text: string) => text, links: () => [] }

/** Shortens the links in the texts of one message. The same link gets the same code everywhere in the message. */
function shortener(base: string) {
  const codes = new Map<string, string>()
  const codeOf = (url: string) => {
    const code = codes.get(url) ?? randomCode()
    codes.set(url, code)
    return code
  }
  return {
    shorten: (text: string) => shortenLinks(text, codeOf, base).text,
    links: () => [...codes].map(([url, code]) => ({ code, url })),
  }
}

/** Text and content as they are sent, and the approved template of the message. */
type Said = Pick<NewSingle, 'text' | 'content'> & { template?: ApprovedTemplate | undefined }

function saidBy(
  context: DraftContext,
  request: MessageRequest,
  match: Match | undefined,
  shorten: Shorten,
): Said | Refusal {
  if (request.content?.contentType === 'template') return saidByNamed(context, request, request.content, shorten)
  return { text: shorten(request.text), content: contentOf(request, match, shorten), template: match?.template }
}

/** Fills the template that the content names. The values are checked before their links are shortened. */
function saidByNamed(
  context: DraftContext,
  request: MessageRequest,
  content: TemplateContent,
  shorten: Shorten,
): Said | Refusal {
  const filled = fillNamed(context.templates, content, request.senderName)
  const short = content.parameters ? { ...content, parameters: content.parameters.map(shorten) } : content
  if (!filled) return { text: shorten(request.text), content: short }
  if ('field' in filled) return refusedBy(whyUnusableIn(context, content) ?? filled)
  const { template, fits } = filled
  const text = fillPlaces(template.pattern, short.parameters ?? [])
  const tooLong = refusalOfText(request.channelType, text)
  if (tooLong) return refused('content.parameters', `the filled text ${tooLong}`)
  return { text, content: withMessengerTemplate(short, template), template: fits ? template : undefined }
}

const whyUnusableIn = ({ unusableTemplates }: DraftContext, { templateId }: TemplateContent) =>
  typeof templateId === 'number' ? unusableTemplates?.get(templateId) : undefined

/** A text that equals a registered template of the messenger is sent as that template. */
function contentOf(request: MessageRequest, match: Match | undefined, shorten: Shorten): NewSingle['content'] {
  const content = contentWith(request.content, shorten)
  if (!match || content?.contentType !== 'text') return content
  // Only links in the values are shortened. A link that belongs to the template stays.
  return asMessengerTemplate(content, { ...match, values: match.values.map(shorten) }) ?? content
}

const contentWith = (content: NewSingle['content'], shorten: Shorten): NewSingle['content'] =>
  content && 'text' in content ? { ...content, text: shorten(content.text) } : content

const refused = (field: string, reason: string, errorCode?: number): Refusal => ({
  kind: 'refused',
  why: 'invalid',
  field,
  reason,
  ...(errorCode === undefined ? {} : { errorCode }),
})

const refusedBy = ({ field, reason }: FieldMistake) => refused(field, reason)

/** The sender of a message. For an SMS it must be registered with the recipient's operator. */
function routeFor({ routes, foreignNames }: DraftContext, request: MessageRequest, number: KnownNumber) {
  if (isForeign(foreignNames, request)) return refused('senderName', FOREIGN_NAME)
  const route = routes.routeOf(request, number)
  return 'reason' in route ? refused('senderName', route.reason) : route
}

/** Only codes get the traffic type AUTHORIZE. A message that asks for it without an approved template becomes PROMO. */
function trafficTypeOf(
  { channelType, method, trafficType }: MessageRequest,
  matched: NewSingle['trafficType'] | undefined,
) {
  if (CODES.includes(channelType) || method.startsWith('VERIFIER')) return 'AUTHORIZE' as const
  const wanted = trafficType ?? matched ?? 'PROMO'
  return wanted === 'AUTHORIZE' && matched !== 'AUTHORIZE' ? ('PROMO' as const) : wanted
}

function priceOf(
  prices: PriceBook,
  request: MessageRequest,
  number: KnownNumber,
  { senderType, brand }: Route,
  trafficType: NewSingle['trafficType'],
) {
  return prices.priceOf({
    channelType: request.channelType,
    country: number.kind === 'foreign' ? number.country : 'RU',
    senderType,
    brand: brand ?? '',
    trafficType,
  })
}
