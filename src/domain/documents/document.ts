export type CompanyDocument = {
  id: string
  companyId: number
  filename: string
  createdAt: Date
}

export const DOCUMENT_LIMIT_BYTES = 10 * 1024 * 1024

const signatures = {
  pdf: Buffer.from('%PDF-'),
  jpg: Buffer.from([0xff, 0xd8, 0xff]),
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
}

export type DocumentKind = keyof typeof signatures

/** The kind of a file by its own first bytes; its name and header are only claims. */
export function kindOf(content: Buffer): DocumentKind | undefined {
  const kinds = Object.keys(signatures) as DocumentKind[]
  return kinds.find(kind => content.subarray(0, signatures[kind].length).equals(signatures[kind]))
}
