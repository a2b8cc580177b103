import { AppError } from '../base/errors.ts'

/** Fields that the APIs call otherwise than the domain. */
const wireNames: Record<string, string> = { senderId: 'senderNameId', validFrom: 'dateFrom', validTo: 'dateTo' }

export const wireNameOf = (field: string): string => wireNames[field] ?? field

/** A reason may name another field, such as the beginning that an end must not precede. */
export const withWireNames = (reason: string): string => reason.replace(/\bvalid(?:From|To)\b/g, wireNameOf)

/** Messages have a trafficType on the wire. Templates have the same under the name templateType. */
export const templateFieldOf = (field: string): string => (field === 'trafficType' ? 'templateType' : wireNameOf(field))

/** Runs a change of a template. A refusal of it names the fields of a template on the wire. */
export async function withTemplateFields<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    throw error instanceof AppError && error.field ? error.withField(templateFieldOf(error.field)) : error
  }
}
