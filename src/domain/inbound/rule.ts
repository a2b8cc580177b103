import type { ChannelType } from '../../base/channel-types.ts'
import { isHttpUrl } from '../../base/network/http-url.ts'

/** Channels whose inbound messages are kept and told; what other channels bring in is heard for stop words alone. */
export const inboundChannels = ['WHATSAPP'] as const satisfies ChannelType[]
export type InboundChannel = (typeof inboundChannels)[number]

export const isInboundChannel = (channelType: ChannelType): channelType is InboundChannel =>
  (inboundChannels as readonly ChannelType[]).includes(channelType)

/** Where a company's inbound messages belong, and who is told of them. */
export type InboundRule = {
  companyId: number
  ruleId: number
  channelType: InboundChannel
  /** Of the names that are written to; none for all names of the channel. */
  senderNames: string[]
  centerId: number
  callbackUrl: string | null
}

/**
 * The rule for what was written to a name: the oldest that names it, else the oldest for all names. `rules` are those of
 * the channel, by their age.
 */
export const ruleFor = <Rule extends Pick<InboundRule, 'senderNames'>>(
  rules: Rule[],
  senderName: string,
): Rule | undefined =>
  rules.find(({ senderNames }) => senderNames.includes(senderName)) ??
  rules.find(({ senderNames }) => senderNames.length === 0)

/** The rules in the order in which they are tried: those that name senders first, each kind by age. */
export const inOrder = <Rule extends Pick<InboundRule, 'senderNames'>>(rules: Rule[]): Rule[] => [
  ...rules.filter(({ senderNames }) => senderNames.length > 0),
  ...rules.filter(({ senderNames }) => senderNames.length === 0),
]

/** What a rule has to do with a message: takes it, is of another channel or of other names, or comes after the one taken. */
export type Verdict = 'taken' | 'channel' | 'names' | 'later'

export function verdictOn(
  rule: Pick<InboundRule, 'ruleId' | 'channelType' | 'senderNames'>,
  taken: Pick<InboundRule, 'ruleId'> | undefined,
  { channelType, senderName }: { channelType: ChannelType; senderName: string },
): Verdict {
  if (rule.ruleId === taken?.ruleId) return 'taken'
  if (rule.channelType !== channelType) return 'channel'
  return rule.senderNames.length > 0 && !rule.senderNames.includes(senderName) ? 'names' : 'later'
}

export const MOST_NAMES = 100
/** Of one company: every inbound message reads those of its channel. */
export const MOST_RULES = 200
const MOST_URL_CHARS = 2048

/** Why an address cannot be told anything; undefined when it can. The same addresses that a message may name. */
export function refusalOfUrl(url: string): string | undefined {
  if (!isHttpUrl(url)) return 'must be an http or https address'
  return url.length > MOST_URL_CHARS ? `must be at most ${MOST_URL_CHARS} characters` : undefined
}
