/** What an operator reported, by its own id of a part. */
export type ProviderReceipt = {
  providerId: string
  /** Our uuid, where the operator repeats it: a message whose submission was not answered was kept under it. */
  ownId?: string | null
  /** Who has read a message has got it. */
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode: number | null
  /** The operator's own word for a failure. */
  operatorError?: string | null
  happenedAt: Date
}
