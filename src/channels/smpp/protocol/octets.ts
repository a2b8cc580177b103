/** The octet at a position that the caller has checked. */
export const octetAt = (octets: Uint8Array, at: number): number => octets[at] ?? 0
