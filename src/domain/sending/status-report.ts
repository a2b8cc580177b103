import { isPlain, plainId, plainWords } from '../../base/plain-words.ts'
import type { CascadeContext } from '../cascades/cascades.ts'
import type { ProviderReceipt } from './receipt.ts'

/** What the engine learned of one message: that the operator took it, what became of it, or both. */
export type StatusReport = {
  uuid: string
  sentAt?: Date
  /**
   * The operator's ids of its parts, each at its place; a place without one is a part that was not taken yet, and then
   * there is no `sentAt`: the rest is to go at the next attempt. An empty id: handed over without an answer.
   */
  ids?: { gatewayId: number; providerIds: (string | undefined)[] }
  /** It did not go out: refused by the operator, expired, blacklisted, without a route. */
  refused?: { at: Date; errorCode: number; operatorError?: string }
  /** What the operator reported of it. */
  final?: { status: 'DELIVERED' | 'FAILED'; at: Date; errorCode?: number; operatorError?: string }
  read?: { at: Date }
}

/** Without `cascades`, a step that fails brings no other: where cascades are not known. */
export type RecordingContext = {
  billingZone: string
  now: Date
  cascades?: Pick<CascadeContext, 'numbering' | 'linkBase'>
}

/** The first word about an end counts, later ones are repeats; but the later ids are those of an attempt that got on. */
export function joinStatusReports(known: StatusReport, more: StatusReport): StatusReport {
  const ids = joinIds(known.ids, more.ids)
  return { ...more, ...known, ...(ids ? { ids } : {}) }
}

/** The ids of parts may be told one after another: a later one does not take the place of those beside it. */
function joinIds(known: StatusReport['ids'], more: StatusReport['ids']): StatusReport['ids'] {
  if (!known || !more || known.gatewayId !== more.gatewayId) return more ?? known
  if (known.providerIds.length !== more.providerIds.length) return more
  return { ...more, providerIds: more.providerIds.map((id, part) => id || (known.providerIds[part] ?? id)) }
}

/**
 * The last look at what operators wrote before it goes into the database: channels clean it themselves, but a single
 * NUL that slipped through would keep a whole batch out. An id that cannot be kept counts as none.
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

/** The same for receipts; one whose id cannot be kept names no message, and is left out. */
export function cleanReceipts(receipts: ProviderReceipt[]): ProviderReceipt[] {
  return receipts.flatMap(receipt => {
    const { providerId, operatorError } = receipt
    if (providerId !== '' && isPlain(providerId) && isPlain(operatorError)) return receipt
    const id = cleanId(providerId)
    return id === '' ? [] : { ...receipt, providerId: id, ...cleanError(receipt) }
  })
}

/** With no id at all there is nothing to keep: no receipt will ever find it. */
function cleanIds(ids: StatusReport['ids']): Pick<StatusReport, 'ids'> {
  const providerIds = ids?.providerIds.map(id => (id === undefined ? undefined : cleanId(id)))
  return !providerIds || providerIds.every(id => id === '') ? {} : { ids: { ...ids!, providerIds } }
}

const cleanId = (id: string) => plainId(id) ?? ''

const cleanError = ({ operatorError }: { operatorError?: string | null }) =>
  operatorError ? { operatorError: plainWords(operatorError) } : {}
