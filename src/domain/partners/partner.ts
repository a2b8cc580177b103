export type Partner = {
  partnerId: number
  login: string
  currency: string
}

export const TOKEN_LIFETIME_MS = 24 * 3600_000
export const FAILURES_ALLOWED = 10
export const FAILURE_WINDOW_MS = 10 * 60_000
