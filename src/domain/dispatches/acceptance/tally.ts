import type { Money } from '../../../base/money.ts'
import type { ShortLink } from '../../short-links/short-link.ts'

/** The sums of one request, and its accepted messages. */
export type Tally = {
  total: number
  success: number
  parts: number
  estimate: Money
  tariffIds: Set<number>
  accepted: { uuid: string; destination: string; parts: number; senderId: number | null }[]
  links: ShortLink[]
}

export const emptyTally = (): Tally => ({
  total: 0,
  success: 0,
  parts: 0,
  estimate: 0n,
  tariffIds: new Set(),
  accepted: [],
  links: [],
})
