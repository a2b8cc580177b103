import type { ChannelType } from '../../../base/channel-types.ts'
import { mostCharacters, refusalOfText } from '../../../base/content/channel-text.ts'
import { mostSmsCharacters, smsParts } from '../../../base/content/sms-text.ts'
import { MOST_PARTS, MOST_TEMPLATE_CHARACTERS } from '../dispatch.ts'

/** Parts of the final text. 0 if the channel does not accept the text. A text that is too long is not counted. */
export function partsOf(channelType: ChannelType, text: string): number {
  if (refusalOfText(channelType, text)) return 0
  if (text.length > longestText(channelType)) return MOST_PARTS + 1
  return channelType === 'SMS' ? smsParts(text) : 1
}

export const isAllowedPartCount = (parts: number) => parts > 0 && parts <= MOST_PARTS

/** The longest text before links are shortened. A long link may make the text longer than the text that is sent. */
export const longestRenderedText = (channelType: ChannelType, linkBase: string | undefined) =>
  linkBase ? MOST_TEMPLATE_CHARACTERS : longestText(channelType)

const longestText = (channelType: ChannelType) =>
  channelType === 'SMS' ? mostSmsCharacters(MOST_PARTS) : mostCharacters(channelType)
