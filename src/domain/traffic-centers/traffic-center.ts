/** A company separates its traffic by centers: each MESSAGE key and each inbound message belongs to one. */
export type TrafficCenter = {
  /** Unique in the whole installation. */
  centerId: number
  companyId: number
  name: string
  isDefault: boolean
}

export const DEFAULT_CENTER_NAME = 'Default'
export const CENTER_NAME_LENGTH = 100
/** Of one company. */
export const MOST_CENTERS = 1000

/** The reason why a center cannot have this name. Undefined if it can. */
export function refusalOfCenterName(name: string): string | undefined {
  const isGood = name.trim() === name && name.length > 0 && name.length <= CENTER_NAME_LENGTH
  return isGood ? undefined : `must be 1 to ${CENTER_NAME_LENGTH} characters, without spaces around them`
}
