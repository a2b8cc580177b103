import type { ChannelType } from '../../base/channel-types.ts'
import { isHttpUrl } from '../../base/network/http-url.ts'

/** Channels whose inbound messages are stored and cause callbacks. In other channels only stop words have an effect. */
export const inboundChannels = ['WHATSAPP'] as const satisfies ChannelType[]
export type InboundChannel = (typeof inboundChannels)[number]

export const isInboundChannel = (channelType: ChannelType): channelType is InboundChannel =>
  (inboundChannels as readonly ChannelType[]).includes(channelType)

/** A rule gives inbound messages of a company a traffic center and the address for their callbacks. */
export type InboundRule = {
  companyId: number
  ruleId: number
  channelType: InboundChannel
  /** The rule is for messages to these names. Empty: to all names of the channel. */
  senderNames: string[]
  centerId: number
  callbackUrl: string | null
}

/**
 * The rule for messages to a name: the oldest rule with this name, else the oldest rule for all names. `rules` are the
 * rules of the channel, the oldest first.
 */
export const ruleFor = <Rule extends Pick<InboundRule, 'senderNames'>>(
  rules: Rule[],
  senderName: string,
): Rule | undefined =>
  rules.find(({ senderNames }) => senderNames.includes(senderName)) ??
  rules.find(({ senderNames }) => senderNames.length === 0)

/**
 * The rules in the order in which they are tried: first rules with names, then rules for all names, each the oldest
 * first.
 */
export const inOrder = <Rule extends Pick<InboundRule, 'senderNames'>>(rules: Rule[]): Rule[] => [
  ...rules.filter(({ senderNames }) => senderNames.length > 0),
  ...rules.filter(({ senderNames }) => senderNames.length === 0),
]

/** The rule is used for the message, is for another channel, is for other names, or comes after the used rule. */
export type RuleMatch = 'taken' | 'channel' | 'names' | 'later'

export function matchOfRule(
  rule: Pick<InboundRule, 'ruleId' | 'channelType' | 'senderNames'>,
  taken: Pick<InboundRule, 'ruleId'> | undefined,
  { channelType, senderName }: { channelType: ChannelType; senderName: string },
): RuleMatch {
  if (rule.ruleId === taken?.ruleId) return 'taken'
  if (rule.channelType !== channelType) return 'channel'
  return rule.senderNames.length > 0 && !rule.senderNames.includes(senderName) ? 'names' : 'later'
}

export const MOST_NAMES = 100
/** A limit for each company, because every inbound message reads all rules of its channel. */
export const MOST_RULES = 200
const MOST_URL_CHARS = 2048

/** The reason why an address is refused, or undefined. The callback address of a message has the same rules. */
export function refusalOfUrl(url: string): string | undefined {
  if (!isHttpUrl(url)) return 'must be an http or https address'
  return url.length > MOST_URL_CHARS ? `must be at most ${MOST_URL_CHARS} characters` : undefined
}
