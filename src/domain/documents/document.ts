export type CompanyDocument = {
  id: string
  companyId: number
  filename: string
  kind: DocumentKind
  sizeBytes: number
  createdAt: Date
}

const MIB = 1024 * 1024

export const DOCUMENT_LIMIT_BYTES = 10 * MIB

/** The limits of all documents together. */
export type DocumentQuota = { companyMib: number; partnerMib: number }

export const usualDocumentQuota: DocumentQuota = { companyMib: 500, partnerMib: 5000 }

/** Small files cost more than their bytes, so their number is bounded too. */
const MOST_OF_COMPANY = 1000
const MOST_OF_PARTNER = 10_000

export type DocumentUsage = {
  companyCount: number
  companyBytes: number
  partnerCount: number
  partnerBytes: number
}

/** The reason why a file of this size exceeds the quota. Undefined if it does not. */
export function refusalByQuota(usage: DocumentUsage, sizeBytes: number, quota: DocumentQuota): string | undefined {
  const { companyCount, companyBytes, partnerCount, partnerBytes } = usage
  if (companyCount >= MOST_OF_COMPANY) return `the company has ${companyCount} documents, at most ${MOST_OF_COMPANY}`
  if (companyBytes + sizeBytes > quota.companyMib * MIB)
    return `the company's documents have ${inMib(companyBytes)} MB, with this one more than ${quota.companyMib} MB`
  if (partnerCount >= MOST_OF_PARTNER) return `the partner has ${partnerCount} documents, at most ${MOST_OF_PARTNER}`
  if (partnerBytes + sizeBytes > quota.partnerMib * MIB)
    return `the partner's documents have ${inMib(partnerBytes)} MB, with this one more than ${quota.partnerMib} MB`
}

const inMib = (bytes: number) => Math.round((bytes / MIB) * 10) / 10

const signatures = {
  pdf: Buffer.from('%PDF-'),
  jpg: Buffer.from([0xff, 0xd8, 0xff]),
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
}

export type DocumentKind = keyof typeof signatures

/** The kind of a file by its first bytes. Its name and header may be wrong. */
export function kindOf(content: Buffer): DocumentKind | undefined {
  const kinds = Object.keys(signatures) as DocumentKind[]
  return kinds.find(kind => content.subarray(0, signatures[kind].length).equals(signatures[kind]))
}
