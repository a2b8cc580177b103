/**
 * The description of a connector's setting for a form. `rare`: most gateways do not need it. The connector checks the
 * values; the field only describes the input.
 */
export type SettingField = { name: string; isRequired?: true; isRare?: true } & SettingInput

export type SettingInput =
  | { kind: 'text' | 'address'; default?: string }
  /** A text of several lines, usually the content of a file. */
  | { kind: 'file' }
  /** Names with commas between them. */
  | { kind: 'names' }
  /** `default` is absent when the connector decides. */
  | { kind: 'whole'; least: number; most: number; default?: number }
  /** From 0 to 1. */
  | { kind: 'share'; default: number }
  | { kind: 'flag'; default: boolean }
  | { kind: 'choice'; choices: readonly string[]; default: string }

/** A connector, as a form offers it. */
export type ConnectorDescription<Channel extends string = string> = {
  name: string
  channels: readonly Channel[]
  fields: readonly SettingField[]
  /** The names of fields that are stored encrypted and never shown. */
  secrets: readonly string[]
  hasWebhook: boolean
}
