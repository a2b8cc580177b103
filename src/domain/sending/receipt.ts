/** What an operator reported, by its own id of a part. */
export type ProviderReceipt = {
  providerId: string
  status: 'DELIVERED' | 'FAILED'
  errorCode: number | null
  happenedAt: Date
}
