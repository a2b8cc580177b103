import type { ChannelType } from '../../../../src/base/channel-types.ts'
import type { Brand } from '../../../../src/domain/numbering/brand.ts'
import type { Key } from '../../words/dictionary.ts'
import { useWords } from '../../words/words.ts'

type ReasonCode = Extract<Key, `reason.${number}`> extends `reason.${infer Code extends number}` ? Code : never

/** The error codes that have texts. An operator's gateway may report other codes. */
const reasonCodes: ReadonlySet<number> = new Set<ReasonCode>([
  125, 149, 150, 151, 152, 402, 453, 454, 455, 456, 601, 602, 603, 604, 605, 606, 607, 608, 609, 610, 7060, 7401, 7402,
  7403, 7404, 7405,
])

/** Names of channels and operators, and reasons of failures, in the reader's language. */
export function useTrafficNames() {
  const { say } = useWords()
  return {
    channel: (channelType: ChannelType) => say(`channel.${channelType}`),
    /** Null is an operator without a brand. */
    operator: (brand: Brand | null) => say(`operator.${brand ?? 'OTHER'}`),
    reason: (errorCode: number) =>
      reasonCodes.has(errorCode) ? say(`reason.${errorCode as ReasonCode}`) : say('reason.other'),
  }
}
