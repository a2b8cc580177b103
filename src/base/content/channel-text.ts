import type { ChannelType } from '../channel-types.ts'
import { spokenCode } from './spoken-code.ts'

const MOST_CHARACTERS = 4096
const fewer: Partial<Record<ChannelType, number>> = { FLASHCALL: 4, VK: 2048, VOICECODE: 1000, TEXT_TO_SPEECH: 1000 }

/** The most characters of a text in a channel. An SMS is limited by its parts instead. */
export const mostCharacters = (channelType: Exclude<ChannelType, 'SMS'>): number =>
  fewer[channelType] ?? MOST_CHARACTERS

/** The reason why a text cannot be sent in a channel; undefined when it can. `smsParts` counts the parts of an SMS. */
export function refusalOfText(channelType: ChannelType, text: string): string | undefined {
  if (text === '') return 'must not be empty'
  if (channelType === 'SMS') return undefined
  if (channelType === 'FLASHCALL') return /^\d{4}$/.test(text) ? undefined : 'must be 4 digits'
  const most = mostCharacters(channelType)
  if (text.length > most) return `must have at most ${most} characters`
  if (channelType === 'VOICECODE' && !spokenCode(text)) return 'must contain a code of 4 to 8 digits'
}
