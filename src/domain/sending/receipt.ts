/** What an operator reported, by its own id of a part. */
export type ProviderReceipt = {
  providerId: string
  /** Who has read a message has got it. */
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode: number | null
  /** The operator's own word for a failure. */
  operatorError?: string | null
  happenedAt: Date
}
