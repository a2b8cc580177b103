import type { ChannelType } from '../../base/channel-types.ts'
import { isHttpUrl } from '../../base/http-url.ts'

/** Channels whose inbound messages are kept and told; what other channels bring in is heard for stop words alone. */
export const inboundChannels = ['WHATSAPP'] as const satisfies ChannelType[]
export type InboundChannel = (typeof inboundChannels)[number]

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

export const MOST_NAMES = 100
const MOST_URL_CHARS = 2048

/** Why an address cannot be told anything; undefined when it can. The same addresses that a message may name. */
export function refusalOfUrl(url: string): string | undefined {
  if (!isHttpUrl(url)) return 'must be an http or https address'
  return url.length > MOST_URL_CHARS ? `must be at most ${MOST_URL_CHARS} characters` : undefined
}
