type WithText = { text: string }

/**
 * A migration either expands the schema or contracts it. A program works with a schema that was expanded after it was
 * written. A contracting migration removes what programs before `minimumVersion` use, so they must have ended.
 */
export type MigrationKind = { kind: 'expand' } | { kind: 'contract'; minimumVersion: number }

/** The migrations that the first release starts with have no first line of this form. They all expand. */
export const BASELINE_VERSION = 14

const CONTRACT = /^-- contract, minimum_version (\d+)$/

/** Reads the first line: `-- expand`, or `-- contract, minimum_version 15`. */
export function kindOf({ text }: WithText): MigrationKind {
  const [firstLine = ''] = text.split('\n', 1)
  const minimumVersion = CONTRACT.exec(firstLine)?.[1]
  return minimumVersion === undefined
    ? { kind: 'expand' }
    : { kind: 'contract', minimumVersion: Number(minimumVersion) }
}

export const hasKind = ({ text }: WithText): boolean => /^-- expand\n/.test(text) || isContract(text)

const isContract = (text: string) => kindOf({ text }).kind === 'contract'
