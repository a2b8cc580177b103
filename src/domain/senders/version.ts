import { versionOfValues } from '../review/version.ts'
import type { SenderRequest } from './sender.ts'

export const versionOf = (sender: SenderRequest): string =>
  versionOfValues([
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
