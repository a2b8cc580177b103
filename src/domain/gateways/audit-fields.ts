import { brandOf } from '../numbering/brand.ts'
import type { Gateway } from './gateway.ts'

/** Stands for all operators without a brand. */
export const OTHER_BRANDS = 'OTHER'

export const brandNamesOf = ({ brands }: Pick<Gateway, 'brands'>): string[] =>
  brands.map(brandId => brandOf(brandId) ?? OTHER_BRANDS)

export const gatewaySubject = ({ gatewayId, name }: Gateway) => ({ kind: 'gateway', id: gatewayId, name })

/** The fields that the audit log compares. It gets only the names of settings, because an address may contain a password. */
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
