/** What an operator or its connection answered instead of taking a message. */
export type GatewayError = {
  /** `refused` for ever, `busy` and `lost` are sent again, `unknown` had no answer. */
  kind: 'refused' | 'busy' | 'unknown' | 'lost'
  errorCode: number | null
  /** The operator's own word. */
  operatorError: string | null
  /** Empty where a minute had too many different ones. */
  reason: string
  count: number
  lastAt: string
}

/** What an engine counted at a gateway within a minute. */
export type OwnMinute = {
  gatewayId: number
  minute: Date
  /** Parts that were taken. */
  parts: number
  /** The receipts that the operator owes for the parts that it took. */
  taken: number
  /** The receipts that arrived, and how many of them report a failure. */
  ended: number
  failed: number
  errors: GatewayError[]
  /** Grows with every change of the row. */
  changes: number
}
