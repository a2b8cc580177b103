import { type Config, settings } from '../../config.ts'
import type { Call } from '../command.ts'
import { table } from '../table.ts'

export async function printConfig({ config, print }: Call) {
  const rows = Object.entries(settings).map(([key, { name, secret, about, defaultText }]) => ({
    name,
    defaultText,
    value: shown(config[key as keyof Config], secret),
    about,
  }))
  print(
    Object.fromEntries(rows.map(({ name, value }) => [name, value])),
    table(
      ['SETTING', 'VALUE', ''],
      rows.map(({ name, value, about, defaultText }) => [name, text(value) ?? `(${defaultText})`, about]),
    ),
  )
}

const shown = (value: unknown, secret: boolean | undefined) => (value === undefined ? null : secret ? '(set)' : value)
const text = (value: unknown) =>
  value === null ? null : Array.isArray(value) ? value.join(',') || null : String(value)
