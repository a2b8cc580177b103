import { isDeepStrictEqual } from 'node:util'
import { projectDir } from '../../base/process/project.ts'
import { type Config, defaultValueOf, type Setting, settings } from '../../config.ts'
import { defaultDataDir } from '../../db/embedded/user.ts'
import type { Call } from '../command.ts'
import { terminalWidth, wrapped } from '../help.ts'

export async function printConfig({ config, print }: Call) {
  const given = Object.entries(settings) as [keyof Config, Setting<unknown>][]
  const rows = given.map(([key, setting]) => ({ setting, key, value: shownValue(key, setting, config) }))
  print(
    Object.fromEntries(rows.map(({ setting, value }) => [setting.name, value])),
    rows.map(({ key, setting, value }) => entry(setting, value, isDefault(key, setting, config))).join('\n'),
  )
}

/** Nothing where there is none; of a secret only that it is set; of the data folder where it really is. */
function shownValue(key: keyof Config, { secret }: Setting<unknown>, config: Config): unknown {
  const value = config[key]
  if (key === 'dataDir' && config.databaseUrl === undefined) return value ?? defaultDataDir(projectDir)
  if (value === undefined) return null
  return secret ? '(set)' : value
}

const isDefault = (key: keyof Config, setting: Setting<unknown>, config: Config) =>
  isDeepStrictEqual(config[key], defaultValueOf(setting, config))

/** The name and value as they would stand in a file of settings, and below them what it is for. */
function entry({ name, about, defaultText }: Setting<unknown>, value: unknown, isUsual: boolean): string {
  const shown = Array.isArray(value) ? value.join(',') : String(value ?? '')
  const note = isUsual ? (shown ? ' (default)' : ` (default: ${defaultText})`) : ''
  const width = terminalWidth()
  return [
    `${name} =${shown ? ` ${shown}` : ''}${note}`,
    ...wrapped(about, width && width - 2).map(line => `  ${line}`),
  ].join('\n')
}
