import { operatorNames } from '../../parts/names/operator-names.ts'
import { oneOf } from '../../search-values.ts'
import type { Connector, GatewayDetails } from '../gateways.ts'
import type { Draft } from './gateway-form.tsx'
import type { Setting, Settings } from './setting-input.tsx'

export const emptyDraft = (name: string): Draft => ({ name, brands: [], rate: null, companies: [], settings: {} })

/** The initial values of the form, without secrets. */
export const draftOf = ({ name, brands, rateLimit, companies, settings }: GatewayDetails): Draft => ({
  name,
  brands: brands.flatMap(brand => oneOf(operatorNames, brand) ?? []),
  rate: rateLimit,
  companies,
  settings: Object.fromEntries(Object.entries(settings?.values ?? {}).map(([key, value]) => [key, settingOf(value)])),
})

/** A list is edited as text. */
const settingOf = (value: unknown): Setting => {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

type Filled = string | number | boolean

const isFilled = (value: Setting): value is Filled => value !== undefined && value !== null && value !== ''

/** Only the settings that have a value. */
export function filledIn(settings: Settings): Record<string, Filled> {
  const filled: Record<string, Filled> = {}
  for (const [name, value] of Object.entries(settings)) if (isFilled(value)) filled[name] = value
  return filled
}

/** The changed settings. An emptied setting is removed. A secret that is left empty stays. */
export function changedSettings({ secrets }: Connector, before: Settings, after: Settings) {
  const changed: Record<string, Filled | null> = {}
  for (const [name, value] of Object.entries(after)) {
    const given = isFilled(value) ? value : null
    const known = secrets.includes(name) || !isFilled(before[name]) ? null : before[name]
    if (given !== known) changed[name] = given
  }
  return changed
}
