/**
 * A mistake in a request: the field in the words of the domain, and the reason. Each API builds its own message from
 * it.
 */
export type FieldMistake = { field: string; reason: string }

export const mistakeText = ({ field, reason }: FieldMistake): string => `${field}: ${reason}`
