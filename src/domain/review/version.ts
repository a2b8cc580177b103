import { createHash } from 'node:crypto'
import { invalidField } from '../../base/errors.ts'
import type { ReviewStatus } from './review.ts'

/**
 * The version of a request: a digest of the values on which a person decides. A form returns the version that it was
 * filled from, so that a person cannot decide on or overwrite values that the form did not show.
 */
export const versionOfValues = (values: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22)

/** Throws when the request changed after the person read it. */
export function refuseOldVersion(
  noun: 'sender name' | 'template',
  { read, current, status }: { read: string; current: string; status: ReviewStatus },
) {
  if (read !== current) throw invalidField('version', `the ${noun} was changed, it is ${status} now`)
}
