/** A mistake in a request: the field as the domain calls it, and the reason. The APIs make their own messages of it. */
export type FieldMistake = { field: string; reason: string }

export const mistakeText = ({ field, reason }: FieldMistake): string => `${field}: ${reason}`
