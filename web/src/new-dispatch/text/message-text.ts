import type { ClientChannel } from '../../../../src/base/channel-types.ts'
import { mostCharacters } from '../../../../src/base/content/channel-text.ts'
import {
  GSM_DEFAULT,
  GSM_EXTENSION,
  type SmsAlphabet,
  smsAlphabet,
  smsParts,
} from '../../../../src/base/content/sms-text.ts'
import { compileTemplate } from '../../../../src/base/content/text-template.ts'

/** The length of a text, by the rules of the server. */
export type Measure = { parts: number; alphabet: SmsAlphabet; used: number; room: number }

export function measure(text: string): Measure {
  const alphabet = smsAlphabet(text)
  const parts = Math.max(1, smsParts(text))
  const used = alphabet === 'gsm7' ? septets(text) : text.length
  const [single, each] = alphabet === 'gsm7' ? [160, 153] : [70, 67]
  return { parts, alphabet, used, room: parts === 1 ? single : parts * each }
}

const septets = (text: string) => [...text].reduce((sum, char) => sum + (char in GSM_EXTENSION ? 2 : 1), 0)

const isInGsm = (char: string) => GSM_DEFAULT.includes(char) || char in GSM_EXTENSION

/** Similar characters of the GSM alphabet. */
const cheaper: Record<string, string> = {
  '–': '-',
  '—': '-',
  '−': '-',
  '‑': '-',
  '«': '"',
  '»': '"',
  '„': '"',
  '“': '"',
  '”': '"',
  '‘': "'",
  '’': "'",
  '`': "'",
  '…': '...',
  '•': '*',
  '·': '*',
  '×': 'x',
  '№': 'No.',
  '₽': 'RUB',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\u2009': ' ',
  '\t': ' ',
}

export type Dear = { signs: string[]; replacement: string; text: string; parts: number }

/** Characters that increase the number of parts, and the text with cheaper characters instead. */
export function dearSigns(text: string, samples: Record<string, string>): Dear | undefined {
  const replaced = [...text].map(char => cheaper[char] ?? char).join('')
  if (replaced === text) return undefined
  const before = smsParts(rendered(text, samples))
  const after = smsParts(rendered(replaced, samples))
  if (after >= before) return undefined
  const signs = [...new Set([...text].filter(char => cheaper[char] !== undefined && !isInGsm(char)))]
  const replacement = cheaper[signs[0] ?? '']
  return replacement === undefined ? undefined : { signs, replacement, text: replaced, parts: after }
}

export const placeholdersIn = (text: string) => compileTemplate(text).names

/** The text with a sample for each placeholder, or its name if there is no sample. */
export function rendered(text: string, samples: Record<string, string>): string {
  const template = compileTemplate(text)
  const values = Object.fromEntries(template.names.map(name => [name, samples[name] ?? name]))
  return template.render(values) ?? text
}

export const partsIn = (channelType: ClientChannel, text: string) => (channelType === 'SMS' ? smsParts(text) : 1)

export const mostIn = (channelType: ClientChannel) => (channelType === 'SMS' ? 1530 : mostCharacters(channelType))
