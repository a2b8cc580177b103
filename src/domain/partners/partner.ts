export type Partner = {
  partnerId: number
  login: string
  currency: string
}

/** As staff see it. */
export type ListedPartner = Partner & { disabledAt: Date | null }

export const partnerStates = ['active', 'disabled'] as const

/** The filter of a list of partners: a part of the login, and the state. */
export type PartnerFilter = { search?: string | undefined; state?: (typeof partnerStates)[number] | undefined }

/** The partner that a page of a list begins after, or ends before. Neither: the first page. */
export type PartnerPlace = { after?: number | undefined; before?: number | undefined }

const LONGEST_NAME = 64
const LONGEST_ADDRESS = 200
const plainName = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i
const emailAddress = /^[a-z0-9](?:[a-z0-9._%+-]*[a-z0-9])?@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i

/** Why a login cannot be given to anyone; undefined when it can. Logins from before this rule go on working. */
export function refusalOfLogin(login: string): string | undefined {
  const isName = login.length <= LONGEST_NAME && plainName.test(login)
  if (isName || isMailAddress(login)) return undefined
  return `must be a plain name (1 to ${LONGEST_NAME} Latin letters, digits, ".", "_" or "-", with a letter or digit at both ends) or an e-mail address`
}

/** Whether mails can be sent to a login. */
export const isMailAddress = (login: string): boolean => login.length <= LONGEST_ADDRESS && emailAddress.test(login)

const SHORTEST_PASSWORD = 10
const LONGEST_PASSWORD = 1024 // what the API takes when logging in

/** Why a password is not good enough for a login; undefined when it is. */
export function refusalOfPassword(password: string): string | undefined {
  const { length } = [...password]
  if (length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    return `must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters long`
  }
  if (/\p{Cc}/u.test(password)) return 'must not contain control characters'
  if (password !== password.trim()) return 'must not begin or end with a space'
}

export const TOKEN_LIFETIME_MS = 24 * 3600_000
export const FAILURES_ALLOWED = 10
export const FAILURE_WINDOW_MS = 10 * 60_000
