import { createHash } from 'node:crypto'
import type { SenderRequest } from './sender.ts'

/**
 * Changes whenever something changes that a person decides or edits by. A form gives back the version that it was filled
 * from, so that nobody decides about, or overwrites, what they have not seen.
 */
export const versionOf = (sender: SenderRequest): string =>
  digestOf([
    sender.status,
    sender.senderName,
    sender.commonType,
    sender.validFrom,
    sender.validTo,
    sender.description,
    sender.documentIds,
    sender.managerComment,
    sender.suspended,
  ])

export const digestOf = (values: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22)
