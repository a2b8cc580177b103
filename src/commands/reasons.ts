import { errorDescriptions } from '../base/error-codes.ts'

/** Why a message failed, in words. */
export const reasonOf = (errorCode: number | null): string =>
  errorCode === null ? 'Failed' : (errorDescriptions[errorCode] ?? `Error ${errorCode}`)
