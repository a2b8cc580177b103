/** The steps of a new dispatch: text, recipients, time, check. */
export const steps = [1, 2, 3, 4] as const
export type Step = (typeof steps)[number]
