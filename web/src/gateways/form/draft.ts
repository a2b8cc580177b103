import type { Connector, GatewayDetails } from '../gateways.ts'
import type { Draft } from './gateway-form.tsx'
import type { Setting, Settings } from './setting-input.tsx'

export const emptyDraft = (name: string): Draft => ({ name, brands: [], rate: null, companies: [], settings: {} })

/** The initial values of the form, without secrets. */
export const draftOf = ({ name, brands, rateLimit, companies, settings }: GatewayDetails): Draft => ({
  name,
  brands: brands as Draft['brands'],
  rate: rateLimit,
  companies,
  settings: Object.fromEntries(
    Object.entries(settings?.values ?? {}).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.join(', ') : (value as Setting),
    ]),
  ),
})

const isEmpty = (value: Setting) => value === undefined || value === null || value === ''

/** Only the settings that have a value. */
export const filledIn = (settings: Settings) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => !isEmpty(value))) as Record<
    string,
    string | number | boolean
  >

/** The changed settings. An emptied setting is removed. A secret that is left empty stays. */
export function changedSettings({ secrets }: Connector, before: Settings, after: Settings) {
  const names = Object.keys(after).filter(name => {
    if (secrets.includes(name)) return !isEmpty(after[name])
    return isEmpty(before[name]) ? !isEmpty(after[name]) : before[name] !== after[name]
  })
  return Object.fromEntries(names.map(name => [name, isEmpty(after[name]) ? null : after[name]])) as Record<
    string,
    string | number | boolean | null
  >
}
