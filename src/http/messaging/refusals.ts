import type { Refusal } from '../../domain/messages/single.ts'

const INVALID = 4000
const NO_FUNDS = 4020
const TOO_MANY = 4290

/** How the messaging API answers a message that is not accepted: HTTP status, code and text. */
export function answerOf(refusal: Refusal): { status: number; code: number; text: string } {
  if (refusal.why === 'no funds') return { status: 402, code: NO_FUNDS, text: refusal.reason }
  if (refusal.why === 'too many') return { status: 400, code: TOO_MANY, text: refusal.reason }
  return { status: 400, code: refusal.errorCode ?? INVALID, text: refusalText(refusal) }
}

/** The field before the reason. A wrong step of a cascade is named by its index in the request. */
export function refusalText(refusal: Refusal): string {
  if (refusal.why !== 'invalid' || refusal.field === undefined) return refusal.reason
  const step = refusal.step === undefined ? '' : `cascade[${refusal.step}].`
  return `${step}${refusal.field}: ${refusal.reason}`
}
