import { isPlain, plainId, plainWords } from '../../base/content/plain-words.ts'
import type { ProviderReceipt } from './receipt.ts'

/** A report about one message: the operator accepted it, it got a final status, or both. */
export type StatusReport = {
  uuid: string
  sentAt?: Date
  /**
   * The operator's ids of the parts, in their order. `undefined` stands for a part that the operator has not accepted yet:
   * then there is no `sentAt`, and the next attempt sends the rest. An empty id: the part was submitted without an answer.
   */
  ids?: { gatewayId: number; providerIds: (string | undefined)[] }
  /** The message was not sent: refused by the operator, expired, blacklisted or without a route. */
  refused?: { at: Date; errorCode: number; operatorError?: string }
  /** The receipt of the operator, and the gateway that it came through. */
  final?: { status: 'DELIVERED' | 'FAILED'; at: Date; errorCode?: number; operatorError?: string; gatewayId?: number }
  read?: { at: Date }
}

type OperatorIds = NonNullable<StatusReport['ids']>

/** The first final status counts; later ones are repeats. Later ids win, because they belong to an attempt that got further. */
export function joinStatusReports(known: StatusReport, more: StatusReport): StatusReport {
  const joined = { ...more, ...known }
  if (known.ids && more.ids) joined.ids = joinIds(known.ids, more.ids)
  return joined
}

/** Ids of parts can arrive one after another. A new id keeps the ids of the other parts. */
function joinIds(known: OperatorIds, more: OperatorIds): OperatorIds {
  if (known.gatewayId !== more.gatewayId) return more
  if (known.providerIds.length !== more.providerIds.length) return more
  return { ...more, providerIds: more.providerIds.map((id, part) => id || (known.providerIds[part] ?? id)) }
}

/**
 * Removes characters that PostgreSQL cannot store from the operator's texts. Channels do it too, but one NUL would make a
 * whole batch fail. An id that cannot be stored is dropped.
 */
export function cleanStatusReport(statusReport: StatusReport): StatusReport {
  const { ids, refused, final } = statusReport
  if (
    (!ids || ids.providerIds.every(id => isPlain(id))) &&
    isPlain(refused?.operatorError) &&
    isPlain(final?.operatorError)
  )
    return statusReport
  const { ids: _, ...rest } = statusReport
  return {
    ...rest,
    ...cleanIds(ids),
    ...(refused ? { refused: { ...refused, ...cleanError(refused) } } : {}),
    ...(final ? { final: { ...final, ...cleanError(final) } } : {}),
  }
}

/** The same for receipts. A receipt whose id cannot be stored can match no message and is left out. */
export function cleanReceipts<R extends ProviderReceipt>(receipts: R[]): R[] {
  return receipts.flatMap(receipt => {
    const { providerId, operatorError } = receipt
    if (providerId !== '' && isPlain(providerId) && isPlain(operatorError)) return receipt
    const id = cleanId(providerId)
    return id === '' ? [] : { ...receipt, providerId: id, ...cleanError(receipt) }
  })
}

/** Without any id there is nothing to store. */
function cleanIds(ids: StatusReport['ids']): Pick<StatusReport, 'ids'> {
  const providerIds = ids?.providerIds.map(id => (id === undefined ? undefined : cleanId(id)))
  return !ids || !providerIds || providerIds.every(id => id === '') ? {} : { ids: { ...ids, providerIds } }
}

const cleanId = (id: string) => plainId(id) ?? ''

const cleanError = ({ operatorError }: { operatorError?: string | null }) =>
  operatorError ? { operatorError: plainWords(operatorError) } : {}
