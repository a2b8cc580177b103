import { brandOf } from '../numbering/brand.ts'
import type { Gateway } from './gateway.ts'

/** The numbers of every operator that is none of the brands. */
export const OTHER_BRANDS = 'OTHER'

export const brandNamesOf = ({ brands }: Pick<Gateway, 'brands'>): string[] =>
  brands.map(brandId => brandOf(brandId) ?? OTHER_BRANDS)

export const gatewaySubject = ({ gatewayId, name }: Gateway) => ({ kind: 'gateway', id: gatewayId, name })

/** What the audit log compares. Of settings it gets the names alone: an address among them may hold a password. */
export const gatewayFields = (gateway: Gateway) => ({
  name: gateway.name,
  channel: gateway.channelType,
  connector: gateway.connector,
  brands: brandNamesOf(gateway),
  companies: gateway.companies,
  rate: gateway.partsPerSecond,
  paused: gateway.paused,
  drainUntil: gateway.drainUntil,
})
