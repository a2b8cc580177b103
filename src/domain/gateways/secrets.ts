import { invalid } from '../../base/errors.ts'
import { type BoxKey, boxKey, open, seal } from '../../base/secret-box.ts'
import type { Gateway, SettingRules, Settings } from './gateway.ts'

type SealedSettings = Pick<Gateway, 'settings' | 'sealed'>

/** The key that the secrets of gateways are sealed with. */
export const gatewayKey = (secret: string): BoxKey => boxKey(secret, 'gateways')

/** All settings of a gateway, the secret ones among them. Throws when these were sealed with another TIDINGS_SECRET. */
export function openSettings({ settings, sealed }: SealedSettings, key: BoxKey | undefined): Settings {
  return sealed ? { ...settings, ...openSecrets(sealed, key) } : settings
}

function openSecrets(sealed: Buffer, key: BoxKey | undefined): Settings {
  try {
    if (key) return JSON.parse(open(key, sealed)) as Settings
  } catch {}
  throw new Error(CANNOT_BE_OPENED)
}

const CANNOT_BE_OPENED =
  'its secrets cannot be decrypted, because TIDINGS_SECRET has changed since they were stored; restore the earlier TIDINGS_SECRET, or set the secrets again'

/** Checks the settings, and separates the secret settings from the others. */
export function sealSettings({ key, secretNames, check }: SettingRules, settings: Settings): SealedSettings {
  refuseWrong(check, settings)
  const isSecret = ([name]: [string, unknown]) => secretNames.includes(name)
  const all = Object.entries(settings)
  const secrets = all.filter(isSecret)
  return {
    settings: Object.fromEntries(all.filter(setting => !isSecret(setting))),
    sealed: secrets.length > 0 ? seal(key, JSON.stringify(Object.fromEntries(secrets))) : null,
  }
}

function refuseWrong(check: SettingRules['check'], settings: Settings) {
  try {
    check(settings)
  } catch (error) {
    throw invalid((error as Error).message)
  }
}

/** A setting that is not named stays as it is, and one set to null is removed. */
export function sealChangedSettings(rules: SettingRules, gateway: SealedSettings, change: Settings): SealedSettings {
  const before = settingsBefore(rules, gateway, change)
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return sealSettings(rules, Object.fromEntries(after))
}

/** Secrets that cannot be decrypted any more can be replaced. The check reports a missing secret. */
function settingsBefore({ key, secretNames }: SettingRules, gateway: SealedSettings, change: Settings): Settings {
  try {
    return openSettings(gateway, key)
  } catch (error) {
    if (secretNames.some(name => change[name] !== undefined)) return gateway.settings
    throw invalid((error as Error).message)
  }
}
