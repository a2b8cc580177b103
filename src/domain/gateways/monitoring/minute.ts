/** An error of an operator or its connection about a message. */
export type GatewayError = {
  /** `refused` is final. `busy` and `lost` messages are sent again. `unknown`: there was no answer. */
  kind: 'refused' | 'busy' | 'unknown' | 'lost'
  errorCode: number | null
  /** The operator's error code or text. */
  operatorError: string | null
  /** Empty if a minute had too many different errors. */
  reason: string
  count: number
  lastAt: string
}

/** The counts of one engine at a gateway within a minute. */
export type OwnMinute = {
  gatewayId: number
  minute: Date
  /** The parts that the operator accepted. */
  parts: number
  /** The receipts that are expected for the accepted parts. */
  taken: number
  /** The receipts that arrived, and how many of them report a failure. */
  ended: number
  failed: number
  errors: GatewayError[]
  /** Grows with every change of the row. */
  changes: number
}
