export const personKinds = ['COMPANY', 'PARTNER', 'STAFF'] as const
export type PersonKind = (typeof personKinds)[number]

export const roles = {
  COMPANY: ['owner', 'sender', 'finance', 'viewer'],
  PARTNER: ['owner', 'manager', 'viewer'],
  STAFF: ['admin', 'moderator', 'support'],
} as const satisfies Record<PersonKind, readonly string[]>

export type Role = (typeof roles)[PersonKind][number]

/** What a person belongs to. */
export type Place =
  | { kind: 'COMPANY'; companyId: number; partnerId: null }
  | { kind: 'PARTNER'; companyId: null; partnerId: number }
  | { kind: 'STAFF'; companyId: null; partnerId: null }

export const languages = ['en', 'ru'] as const
export type Language = (typeof languages)[number]

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Someone who signs in to the cabinet. */
export type Person = Place & {
  personId: number
  role: Role
  /** An e-mail address or a plain name. */
  login: string
  name: string
  /** Null: that of the browser. */
  language: Language | null
  theme: Theme
  hasSecondFactor: boolean
  /** Invited, and has no password yet. */
  isInvited: boolean
  createdAt: Date
  disabledAt: Date | null
}

/** A person who is signed in, with what the request needs to know. */
export type Viewer = Person & { sessionHash: Buffer }

export const isRoleOf = (kind: PersonKind, role: string): role is Role =>
  (roles[kind] as readonly string[]).includes(role)
