/** The owner of a request: the company of the key, or the partner of the token. */
export type Owner = { kind: 'COMPANY' | 'PARTNER'; id: number }

/** A request to one of the public APIs that was answered. */
export type LoggedRequest = {
  owner: Owner
  /** 0: a token of a partner. */
  keyId: number
  at: Date
  method: string
  /** The pattern, such as `/api/v1/message/:uuid`: without values, which may be numbers of people. */
  route: string
  status: number
  tookMs: number
  address: string
  requestId: string
}

export const isRefused = ({ status }: Pick<LoggedRequest, 'status'>) => status >= 400

/** How long requests are listed. */
export const KEPT_MS = 24 * 3_600_000
