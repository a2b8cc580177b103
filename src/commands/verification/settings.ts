import { UsageError } from '../../base/errors.ts'
import {
  defaultLimits,
  type VerifierChannel,
  type VerifierLimits,
  type VerifierSettings,
  verifierChannels,
} from '../../domain/verifiers/verifier.ts'
import type { Call } from '../command.ts'

/**
 * What the options say about codes; settings that are not given are left out. Sender names, texts and limits are added
 * to those `before`. The domain checks whether values are in range.
 */
export function settingsOf(call: Call, before?: VerifierSettings): Partial<VerifierSettings> {
  const limits = limitsOf(call)
  return onlyGiven({
    channels: listOption(call, 'channels')?.map(text => channelCalled(text, 'channels')),
    senders: sendersOf(call, before),
    fallbackSeconds: unlessOff(call, 'fallback', numberOption),
    codeLength: numberOption(call, 'length'),
    lifetimeSeconds: numberOption(call, 'lifetime'),
    tries: numberOption(call, 'tries'),
    pauseSeconds: numberOption(call, 'pause'),
    texts: textsOf(call, before),
    countries: countriesOf(call),
    webOtpHost: unlessOff(call, 'web-otp', textOption),
    androidHash: unlessOff(call, 'android-hash', textOption),
    callbackUrl: unlessOff(call, 'callback-url', textOption),
    limits: Object.keys(limits).length > 0 ? { ...(before?.limits ?? defaultLimits), ...limits } : undefined,
  })
}

const onlyGiven = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }

const textOption = (call: Call, name: string): string | undefined => call.options[name]

/** Words between commas; a comma too many does no harm. */
export function listOption(call: Call, name: string): string[] | undefined {
  const words = call.options[name]?.split(',').map(text => text.trim())
  return words?.filter(word => word !== '')
}

function numberOption(call: Call, name: string): number | undefined {
  const text = call.options[name]
  if (text === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${name} must be a number, not "${text}".`)
  return Number(text)
}

/** Null for `off`. */
function unlessOff<T>(
  call: Call,
  name: string,
  read: (call: Call, name: string) => T | undefined,
): T | null | undefined {
  return call.options[name]?.toLowerCase() === 'off' ? null : read(call, name)
}

function channelCalled(text: string, option: string): VerifierChannel {
  const channel = verifierChannels.find(each => each === text.toUpperCase())
  if (!channel) throw new UsageError(`--${option} takes ${verifierChannels.join(', ')}, not "${text}".`)
  return channel
}

function sendersOf(call: Call, before: VerifierSettings | undefined): VerifierSettings['senders'] | undefined {
  const pairs = listOption(call, 'senders')?.map(pair => pairIn(pair, 'senders', 'SMS=ROMASHKA'))
  return (
    pairs &&
    merged(
      before?.senders,
      pairs.map(([channel, name]) => [channelCalled(channel, 'senders'), name]),
    )
  )
}

function textsOf(call: Call, before: VerifierSettings | undefined): Record<string, string> | undefined {
  const given = call.lists.text?.map(pair => pairIn(pair, 'text', '"en=Your code: {code}"'))
  if (!given?.length) return undefined
  return merged(
    before?.texts,
    given.map(([language, text]) => [language.toLowerCase(), text]),
  )
}

/** The former members together with the given ones; `off` removes a member. */
function merged(before: Record<string, string> | undefined, given: [string, string][]): Record<string, string> {
  const all = Object.entries({ ...before, ...Object.fromEntries(given) })
  return Object.fromEntries(all.filter(([, value]) => value.toLowerCase() !== 'off'))
}

function pairIn(pair: string, option: string, example: string): [string, string] {
  const at = pair.indexOf('=')
  if (at < 1 || at === pair.length - 1)
    throw new UsageError(`--${option} takes pairs such as ${example}, not "${pair}".`)
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
}

function countriesOf(call: Call): string[] | undefined {
  const list = listOption(call, 'countries')?.map(country => country.toUpperCase())
  return list?.length === 1 && list[0] === 'ANY' ? [] : list
}

function limitsOf(call: Call): Partial<VerifierLimits> {
  return onlyGiven({
    perNumber: numberOption(call, 'per-number'),
    perAddress: numberOption(call, 'per-address'),
    perPrefix: numberOption(call, 'per-prefix'),
    perVerifier: numberOption(call, 'per-verifier'),
    perCompany: numberOption(call, 'per-company'),
    leastConfirmed: numberOption(call, 'least-confirmed'),
  })
}
