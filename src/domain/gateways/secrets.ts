import { invalid } from '../../base/errors.ts'
import { type BoxKey, boxKey, open, seal } from '../../base/secret-box.ts'
import type { Gateway, Keeping, Settings } from './gateway.ts'

type Kept = Pick<Gateway, 'settings' | 'sealed'>

/** The key that the secrets of gateways are sealed with. */
export const gatewayKey = (secret: string): BoxKey => boxKey(secret, 'gateways')

/** All settings of a gateway, the secret ones among them. Throws when these were sealed with another TIDINGS_SECRET. */
export function openSettings({ settings, sealed }: Kept, key: BoxKey | undefined): Settings {
  return sealed ? { ...settings, ...openSecrets(sealed, key) } : settings
}

function openSecrets(sealed: Buffer, key: BoxKey | undefined): Settings {
  try {
    if (key) return JSON.parse(open(key, sealed)) as Settings
  } catch {}
  throw new Error(CANNOT_BE_OPENED)
}

const CANNOT_BE_OPENED =
  'its secrets cannot be opened: TIDINGS_SECRET is not the one they were sealed with; bring it back, or set them anew'

/** Checks the settings, and separates the secret settings from the others. */
export function keep({ key, secretNames, check }: Keeping, settings: Settings): Kept {
  refuseWrong(check, settings)
  const isSecret = ([name]: [string, unknown]) => secretNames.includes(name)
  const all = Object.entries(settings)
  const secrets = all.filter(isSecret)
  return {
    settings: Object.fromEntries(all.filter(setting => !isSecret(setting))),
    sealed: secrets.length > 0 ? seal(key, JSON.stringify(Object.fromEntries(secrets))) : null,
  }
}

function refuseWrong(check: Keeping['check'], settings: Settings) {
  try {
    check(settings)
  } catch (error) {
    throw invalid((error as Error).message)
  }
}

/** A setting that is not named stays as it is, and one set to null is removed. */
export function keepChanged(keeping: Keeping, gateway: Kept, change: Settings): Kept {
  const before = settingsBefore(keeping, gateway, change)
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return keep(keeping, Object.fromEntries(after))
}

/** Secrets that cannot be decrypted any more can be replaced. The check reports a missing secret. */
function settingsBefore({ key, secretNames }: Keeping, gateway: Kept, change: Settings): Settings {
  try {
    return openSettings(gateway, key)
  } catch (error) {
    if (secretNames.some(name => change[name] !== undefined)) return gateway.settings
    throw invalid((error as Error).message)
  }
}
