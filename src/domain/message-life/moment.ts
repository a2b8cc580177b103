import type { Money } from '../../base/money.ts'
import type { Actor } from '../audit-log/entry.ts'
import type { MessageCallback } from '../callbacks/callbacks-of-message.ts'
import type { SendingMethod } from '../message-search/found-message.ts'
import type { PricingModel } from '../pricing/tariff.ts'
import type { WaitReason } from '../waiting/waiting.ts'

/** A person as the audit log names them. */
export type Sender = { kind: Actor['kind']; login: string }

/** A part of a message at an operator, as the gateway recorded it. */
export type PartAtOperator = { gateway: string; part: number; providerId: string; status: string }

/** An event of a message, or the event that it waits for now. Only stored events are included. */
export type Moment =
  | {
      kind: 'accepted'
      at: Date
      method: SendingMethod | null
      position: number | null
      /** The API key of the request. Null if none is stored. */
      key: { keyId: number; name: string } | null
      /** The person who sent it from the cabinet. */
      person: Sender | null
    }
  /** A later step of a cascade. */
  | { kind: 'next step'; at: Date }
  | { kind: 'priced'; at: Date; parts: number; price: Money; model: PricingModel | null }
  /** A dispatch that is not started holds nothing. */
  | { kind: 'held'; at: Date; amount: Money; isByStart: boolean }
  | { kind: 'waiting'; at: null; reasons: WaitReason[]; notBefore: Date | null }
  /** `gone`: ids of parts are stored for three days only. `unread`: the search took too long. */
  | { kind: 'sent'; at: Date; parts: PartAtOperator[] | 'gone' | 'unread' }
  | { kind: 'delivered'; at: Date; charged: Money; released: Money }
  | {
      kind: 'failed'
      at: Date
      errorCode: number | null
      operatorError: string | null
      wasSent: boolean
      isRejected: boolean
      released: Money
    }
  | { kind: 'read'; at: Date }
  /** The message already had another final status, which stays. */
  | {
      kind: 'late receipt'
      at: Date
      status: 'DELIVERED' | 'FAILED'
      errorCode: number | null
      operatorError: string | null
    }
  | { kind: 'clicked'; at: Date; url: string; code: string; clicks: number; place: number }
  | { kind: 'callback'; at: Date; callback: MessageCallback }

/** In the order of time. The event that the message waits for comes last. */
export const inOrder = (moments: Moment[]): Moment[] =>
  moments
    .map((moment, place) => ({ moment, place }))
    .sort((a, b) => timeOf(a.moment) - timeOf(b.moment) || a.place - b.place)
    .map(({ moment }) => moment)

const timeOf = ({ at }: Moment) => at?.getTime() ?? Number.MAX_SAFE_INTEGER
