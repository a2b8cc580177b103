import { refusalOfText } from '../../base/channel-text.ts'
import { trafficTypes } from '../../base/channel-types.ts'
import type { TemplateContent } from '../../base/content.ts'
import { errorCodes } from '../../base/error-codes.ts'
import { smsParts } from '../../base/sms-text.ts'
import { needsNoRegistration, whyUnusable } from '../dispatches/routing.ts'
import { FOREIGN_NAME, type ForeignNames, isForeign } from '../gateways/name-owners.ts'
import { type NewSingle, type Refusal, type SingleWish, stepsOf } from '../messages/single.ts'
import { brandOf, OTHER_BRAND_ID } from '../numbering/brand.ts'
import { type Classified, classify, type Numbering } from '../numbering/numbering.ts'
import type { PriceBook } from '../pricing/pricing.ts'
import { isInternational, type Sender, type SenderType, senderTypeOf } from '../senders/sender.ts'
import { randomCode, shortenLinks } from '../short-links/short-link.ts'
import type { Effort } from '../templates/effort.ts'
import { type ApprovedTemplate, type Match, matchTexts, saidByTemplate } from '../templates/matching.ts'
import { fillNamed, withMessengerTemplate } from '../templates/named.ts'
import { fillPlaces } from '../templates/pattern.ts'
import { scheduleOf } from './schedule.ts'

/** What decides about the messages of a company, read before the first one is looked at. */
export type Desk = {
  senders: Sender[]
  foreignNames: ForeignNames
  templates: ApprovedTemplate[]
  /** Which of them the texts of the messages match. */
  matches: ReadonlyMap<SingleWish, Match>
  /** Why templates that messages name by their ids cannot be used, where that is known. */
  unusableTemplates?: ReadonlyMap<number, string>
  prices: PriceBook
  numbering: Numbering
  /** Where short links lead through. */
  linkBase: string
}

/** Their messages are codes, whatever their text. */
const CODES = ['FLASHCALL', 'VOICECODE']
const MOST_PARTS = 10
const INVALID = 4000

type Known = Exclude<Classified, { kind: 'refused' }>
type Name = { senderId: number | null; senderType: SenderType; brand: string | null }

/**
 * Which approved templates the texts of messages match. Most companies have no templates, and a content that names its
 * template is not matched by its words.
 */
export async function matchWishes(templates: ApprovedTemplate[], wishes: SingleWish[], effortOf: () => Effort) {
  if (templates.length === 0) return new Map<SingleWish, Match>()
  const byText = wishes.filter(({ content }) => content?.contentType !== 'template')
  return matchTexts(templates, byText, effortOf())
}

/** A message, or a cascade as its first one: the later steps are tried out now, while the client can still be told. */
export function draftWhole(desk: Desk, wish: SingleWish, now: Date): NewSingle | Refusal {
  const steps = stepsOf(wish)
  const matchOf = (step: number) => desk.matches.get(steps[step]!)
  const draft = draftSingle(desk, wish, now, matchOf(0))
  if (!wish.cascade || !('plan' in wish.cascade)) return draft
  if ('kind' in draft) return inStep(0, draft)
  for (let i = 1; i < steps.length; i++) {
    const tried = draftSingle(desk, { ...steps[i]!, cascade: wish.cascade }, now, matchOf(i))
    if ('kind' in tried) return inStep(i, tried)
  }
  return draft
}

/** Name and content belong to the step, everything else to the cascade. */
const inStep = (index: number, refusal: Refusal): Refusal =>
  /^(senderName|content)\b/.test(refusal.reason)
    ? { ...refusal, reason: `cascade[${index}].${refusal.reason}` }
    : refusal

/** Routes, renders and prices one message, or says why it cannot be sent. `match`: the template that its text matches. */
export function draftSingle(desk: Desk, wish: SingleWish, now: Date, match: Match | undefined): NewSingle | Refusal {
  const number = classify(desk.numbering, wish.destination)
  if (number.kind === 'refused') return refused(errorCodes.badNumber, 'destination: is no valid number')
  const name = nameFor(desk, wish, number)
  if ('kind' in name) return name
  // The time of a step counts from its submission, not from now. A code does not wait: the next step may reach its number.
  const schedule = scheduleOf(
    wish.cascade && !wish.options.verification ? { ...wish.options, ttl: null } : wish.options,
    number,
    now,
  )
  if (typeof schedule === 'string') return refused(INVALID, schedule)
  const { shorten, links } = wish.options.shortUrl ? shortener(desk.linkBase) : AS_IT_IS
  const said = saidBy(desk, wish, match, shorten)
  if ('kind' in said) return said
  const { text, content, template } = said
  const parts = wish.channelType === 'SMS' ? smsParts(text) : 1
  if (text === '') return refused(errorCodes.badText, 'content: must not be empty')
  if (parts > MOST_PARTS)
    return refused(errorCodes.badText, `content: the text has ${parts} parts, at most ${MOST_PARTS}`)
  const trafficType = trafficTypeOf(wish, template?.templateType)
  const { tariffId, perPart } = priceOf(desk.prices, wish, number, name, trafficType)

  return {
    channelType: wish.channelType,
    senderId: name.senderId,
    senderName: wish.senderName,
    brandId: number.kind === 'russian' ? number.brandId : OTHER_BRAND_ID,
    priority: trafficTypes.indexOf(trafficType),
    destination: number.digits,
    text,
    parts,
    tariffId,
    price: perPart * BigInt(parts),
    content,
    trafficType,
    templateId: template?.templateId ?? null,
    externalId: wish.externalId,
    centerId: wish.centerId,
    method: wish.method,
    keyId: wish.keyId,
    options: schedule.window ? { ...wish.options, window: schedule.window } : wish.options,
    callbackUrl: wish.callbackUrl,
    callbackEvents: wish.callbackEvents,
    sendAt: schedule.sendAt,
    completeBy: schedule.completeBy,
    expiresAt: schedule.expiresAt,
    endsEarly: schedule.endsEarly,
    links: links(),
    ...(wish.cascade ? { cascade: wish.cascade } : {}),
    ...(wish.sealed ? { sealed: wish.sealed } : {}),
    ...(wish.code ? { code: wish.code } : {}),
  }
}

type Shorten = (text: string) => string

const AS_IT_IS = { shorten: (text: string) => text, links: () => [] }

/** Shortens the links in the texts of one message: the same link has the same code wherever it stands. */
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

/** The text and content as they go out, and the approved template that the message goes by. */
type Said = Pick<NewSingle, 'text' | 'content'> & { template?: ApprovedTemplate | undefined }

function saidBy(desk: Desk, wish: SingleWish, match: Match | undefined, shorten: Shorten): Said | Refusal {
  if (wish.content?.contentType === 'template') return saidByNamed(desk, wish, wish.content, shorten)
  return { text: shorten(wish.text), content: contentOf(wish, match, shorten), template: match?.template }
}

/** A content that names a template. The values are checked as the client wrote them, before links are shortened. */
function saidByNamed(desk: Desk, wish: SingleWish, content: TemplateContent, shorten: Shorten): Said | Refusal {
  const filled = fillNamed(desk.templates, content, wish.senderName)
  const short = content.parameters ? { ...content, parameters: content.parameters.map(shorten) } : content
  if (!filled) return { text: shorten(wish.text), content: short }
  if ('wrong' in filled) return refused(INVALID, whyUnusableIn(desk, content) ?? filled.wrong)
  const { template, fits } = filled
  const text = fillPlaces(template.pattern, short.parameters ?? [])
  const tooLong = refusalOfText(wish.channelType, text)
  if (tooLong) return refused(INVALID, `content.parameters: the filled text ${tooLong}`)
  return { text, content: withMessengerTemplate(short, template), template: fits ? template : undefined }
}

const whyUnusableIn = ({ unusableTemplates }: Desk, { templateId }: TemplateContent) =>
  typeof templateId === 'number' ? unusableTemplates?.get(templateId) : undefined

/** A free text that a registered template of the messenger says as well goes out as that template. */
function contentOf(wish: SingleWish, match: Match | undefined, shorten: Shorten): NewSingle['content'] {
  const content = contentWith(wish.content, shorten)
  if (!match || content?.contentType !== 'text') return content
  // A link that the template itself says stays; those at its places are short.
  return saidByTemplate(content, { ...match, values: match.values.map(shorten) }) ?? content
}

const contentWith = (content: NewSingle['content'], shorten: Shorten): NewSingle['content'] =>
  content && 'text' in content ? { ...content, text: shorten(content.text) } : content

const refused = (code: number, reason: string): Refusal => ({ kind: 'refused', why: 'invalid', code, reason })

/** The name a message goes out under: of an SMS, the one registered with the recipient's operator. */
function nameFor({ senders, foreignNames }: Desk, wish: SingleWish, number: Known): Name | Refusal {
  const { channelType, senderName } = wish
  if (isForeign(foreignNames, wish)) return refused(INVALID, `senderName: ${FOREIGN_NAME}`)
  if (needsNoRegistration(channelType, senderName))
    return { senderId: null, senderType: 'COMMON', brand: brandOfNumber(number) }
  const ofName = senders.filter(sender => sender.channelType === channelType && sender.senderName === senderName)
  const usable = ofName.filter(({ status, suspended }) => status === 'APPROVED' && !suspended)
  const sender = usable.find(each => serves(each, number)) ?? (channelType === 'SMS' ? undefined : usable[0])
  if (sender) return { senderId: sender.senderId, senderType: senderTypeOf(sender), brand: sender.brand }
  const why = usable.length > 0 ? notRegistered(senderName, number) : whyUnusable(wish, ofName)
  return refused(INVALID, `senderName: ${why}`)
}

const serves = (sender: Sender, number: Known) =>
  number.kind === 'russian'
    ? !isInternational(sender) && sender.brand === brandOf(number.brandId)
    : isInternational(sender)

const brandOfNumber = (number: Known) => (number.kind === 'russian' ? (brandOf(number.brandId) ?? null) : null)

function notRegistered(senderName: string, number: Known): string {
  const brand = brandOfNumber(number)
  return `${senderName} is not registered with the recipient's operator${brand ? `, ${brand}` : ''}`
}

/** Going first is for codes alone: who only says so goes with the advertising. */
function trafficTypeOf(
  { channelType, method, trafficType }: SingleWish,
  matched: NewSingle['trafficType'] | undefined,
) {
  if (CODES.includes(channelType) || method.startsWith('VERIFIER')) return 'AUTHORIZE' as const
  const wanted = trafficType ?? matched ?? 'PROMO'
  return wanted === 'AUTHORIZE' && matched !== 'AUTHORIZE' ? ('PROMO' as const) : wanted
}

function priceOf(
  prices: PriceBook,
  wish: SingleWish,
  number: Known,
  name: Name,
  trafficType: NewSingle['trafficType'],
) {
  return prices.priceOf({
    channelType: wish.channelType,
    country: number.kind === 'foreign' ? number.country : 'RU',
    senderType: name.senderType,
    brand: name.brand ?? '',
    trafficType,
  })
}
