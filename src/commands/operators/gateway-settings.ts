import { readFile } from 'node:fs/promises'
import { UsageError } from '../../base/errors.ts'
import type { GatewayChange } from '../../domain/gateways/gateway.ts'
import { MOST_PARTS_PER_SECOND } from '../options.ts'

/** What one `--set` says: a name, and a text that stands as it is when it comes from a file. */
export type Setting = { name: string; text: string; isFromFile: boolean }

export const readSettings = (texts: string[]): Promise<Setting[]> => Promise.all(texts.map(readSetting))

async function readSetting(text: string): Promise<Setting> {
  const end = text.indexOf('=')
  if (end < 1) throw new UsageError('--set needs KEY=VALUE.') // not repeated: it may be a secret
  const name = text.slice(0, end)
  const value = text.slice(end + 1)
  if (!value.startsWith('@')) return { name, text: value, isFromFile: false }
  if (value.startsWith('@@')) return { name, text: value.slice(1), isFromFile: false }
  return { name, text: await textOf(value.slice(1), name), isFromFile: true }
}

/** Editors end a file with a line break, which is no part of a token. */
async function textOf(path: string, name: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `The file for the setting "${name}" cannot be read (${error.code}); a value that begins with @ is written with two.`,
    )
  })
  return text.replace(/\r?\n$/, '')
}

/** Settings as they are kept, and the rate, which may stand among them and is kept beside them. */
export function changeBySettings(
  settings: Setting[],
  secretNames: readonly string[],
): Pick<GatewayChange, 'settings' | 'partsPerSecond'> {
  const rate = settings.findLast(({ name }) => name === 'rate')
  const others = settings.filter(({ name }) => name !== 'rate')
  return {
    ...(rate ? { partsPerSecond: rateOf(rate.text) } : {}),
    ...(others.length > 0
      ? {
          settings: Object.fromEntries(
            others.map(one => [one.name, settingValue(one, secretNames.includes(one.name))]),
          ),
        }
      : {}),
  }
}

/** Parts a second; 0 and none are no limit. */
function rateOf(text: string): number | null {
  if (['0', 'none', 'null'].includes(text.toLowerCase())) return null
  const rate = Number(text)
  if (!/^\d+$/.test(text) || rate > MOST_PARTS_PER_SECOND) {
    throw new UsageError(`setting "rate" must be 0 to ${MOST_PARTS_PER_SECOND} parts a second, or none, not "${text}".`)
  }
  return rate
}

/**
 * JSON is parsed; any other value is a text. A secret is always a text, and so is a number that would lose digits.
 */
function settingValue({ text, isFromFile }: Setting, isSecret: boolean): unknown {
  if (isFromFile) return text
  if (text === 'null') return null
  const value = isSecret ? text : parsed(text)
  return typeof value === 'number' && String(value) !== text ? text : value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
