import { ServerError } from '../../api.ts'
import { describeProblem } from '../../problems.ts'
import type { Words } from '../../words/words.ts'

/** A refusal of the server with its setting. Without a setting it concerns the whole form. */
export type Refusal = { setting?: string; text: string; isMeanwhile: boolean }

/**
 * The message of the server begins with the setting: `length must be…`, `text for en must…`, `senders must give a name
 * for VIBER…`.
 */
const ABOUT = /^(text for [\w-]+|senders must give a name for \w+|[a-z]+(?:-[a-z]+)*)\b(?!:)/

export function refusalOf(words: Words, error: unknown): Refusal {
  const text = describeProblem(words, error)
  if (!(error instanceof ServerError) || error.status !== 400) return { text, isMeanwhile: false }
  const isMeanwhile = error.message.startsWith('Somebody else changed this')
  const setting = isMeanwhile ? undefined : ABOUT.exec(error.message)?.[1]
  if (setting === undefined) return { text, isMeanwhile }
  return { setting, text: inWords(words, error.message) ?? text, isMeanwhile }
}

/** Translates the message of the server. Returns undefined if there is no translation. */
function inWords({ say }: Words, message: string): string | undefined {
  const place = '{code}'
  const [, least, most] = /must be a whole number from (\d+) to (\d+)/.exec(message) ?? []
  if (least) return say('verification.refused.range', { least: Number(least), most: Number(most) })
  const [, given] = /^origins must be such as .* not "(.*)"$/s.exec(message) ?? []
  if (given !== undefined) return say('verification.refused.origin', { given })
  if (/^name /.test(message)) return say('verification.refused.empty')
  if (/^text for \S+ must contain/.test(message)) return say('verification.refused.noCode', { place })
  if (/^text for \S+ must have no placeholder/.test(message)) return say('verification.refused.placeholder', { place })
  if (/^text must be given/.test(message)) return say('verification.refused.texts')
  if (/^channels must name at least/.test(message)) return say('verification.refused.channels')
  if (/^senders must give/.test(message)) return say('verification.refused.sender')
  if (/^fallback needs/.test(message)) return say('verification.refused.fallback')
  if (/^web-otp/.test(message)) return say('verification.refused.host')
  if (/^android-hash/.test(message)) return say('verification.refused.hash')
  if (/^callback-url/.test(message)) return say('verification.refused.url')
  if (/^origins must name at least/.test(message)) return say('verification.refused.origins')
  if (/^captcha-site-key is needed/.test(message)) return say('verification.refused.siteKey')
  if (/^captcha-secret is needed/.test(message)) return say('verification.refused.secret')
  if (/^accent/.test(message)) return say('verification.refused.colour')
  if (/^least-confirmed/.test(message)) return say('verification.refused.share')
}
