import type { ChannelType } from '../../base/channel-types.ts'
import type { VerifierLimits } from '../verifiers/verifier.ts'

/** What `check` answers. EXPIRED: the lifetime is over, or the tries are used up. */
export type CheckStatus = 'CONFIRMED' | 'WRONG_CODE' | 'EXPIRED' | 'NOT_FOUND'

/** A code to be sent for a number, as it is written together with its message. */
export type NewCode = {
  verifierId: string
  /** The verification that gets one more code; without it, a new one is made, known by the uuid of the message. */
  verificationUuid?: string
  /** The session of a widget that asked for the code: its key's hash. */
  sessionKeyHash?: Buffer
  country: string
  prefix: string
  /** Address of the end user, where it is known. */
  clientAddress: string | null
  lifetimeSeconds: number
  tries: number
  pauseSeconds: number
  limits: VerifierLimits
  /** Keyed hashes in hex of the codes that confirm, for the verification with that uuid. */
  hashesFor(verificationUuid: string): string[]
}

/** A message with a code that was accepted. */
export type SentCode = NewCode & { uuid: string; channelType: ChannelType; destination: string }

/** An accepted step of a fallback. It carries the code of its verification. */
export type FallbackSend = { verificationUuid: string; channelType: ChannelType }
