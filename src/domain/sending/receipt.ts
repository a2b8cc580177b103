/** What an operator reported, by its own id of a part. */
export type ProviderReceipt = {
  providerId: string
  /** Our uuid, where the operator repeats it: a message whose submission was not answered was kept under it. */
  ownId?: string | null
  /** The operator's id as it came: it can be read in two ways, and is no id of a submission yet. */
  isUnread?: boolean
  /** The number that it is about: the receipt is for no message to another. */
  subscriber?: string | null
  /** It has been kept for a while: whatever was submitted before it came is written down. */
  isOld?: boolean
  /** Who has read a message has got it. */
  status: 'DELIVERED' | 'FAILED' | 'READ'
  errorCode: number | null
  /** The operator's own word for a failure. */
  operatorError?: string | null
  happenedAt: Date
}
