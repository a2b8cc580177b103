/** The changes in the audit log: the noun that changed, and the change. */
export const auditActions = [
  'person.invited',
  'person.link_renewed',
  'person.joined',
  'person.role_changed',
  'person.deactivated',
  'person.activated',
  'staff.created',
  'staff.password_changed',
  'account.changed',
  'account.password_changed',
  'account.second_factor_on',
  'account.second_factor_off',
  'account.recovery_codes_renewed',
  'session.ended',
  'sessions.ended',
  'partner.created',
  'partner.password_changed',
  'partner.disabled',
  'partner.enabled',
  'partner.unlocked',
  'company.created',
  'company.changed',
  'company.disabled',
  'company.enabled',
  'company.topped_up',
  'company.balance_corrected',
  'document.uploaded',
  'document.deleted',
  'budget.changed',
  'key.created',
  'key.changed',
  'key.deactivated',
  'key.activated',
  'key.reissued',
  'sender.created',
  'sender.changed',
  'sender.suspended',
  'sender.unsuspended',
  'sender.approved',
  'sender.rejected',
  'sender.denied',
  'template.created',
  'template.changed',
  'template.approved',
  'template.rejected',
  'template.denied',
  'blacklist.added',
  'blacklist.removed',
  'blacklist.imported',
  'verifier.created',
  'verifier.changed',
  'verifier.deleted',
  'verifier.unblocked',
  'widget.created',
  'widget.changed',
  'widget.deleted',
  'tariffs.imported',
  'tariffs.changed',
  'tariffs.ended',
  'tariffs.withdrawn',
  'tariffs.fee_changed',
  'numbering.imported',
  'ported_numbers.imported',
  'numbering.virtual_operator_saved',
  'gateway.added',
  'gateway.changed',
  'gateway.paused',
  'gateway.resumed',
  'gateway.drain_started',
  'gateway.removed',
  'gateway.tested',
  'callback.replayed',
  'callback.secret_replaced',
  'callback.tested',
  'callback.receiver_tried',
  'inbound_rule.added',
  'inbound_rule.changed',
  'inbound_rule.removed',
  'traffic_center.added',
  'traffic_center.made_default',
  'dispatch.created',
  'dispatch.changed',
  'dispatch.started',
  'dispatch.stopped',
  'dispatch.sent_again',
  'message.sent',
  'month.detached',
  'number.erased',
  'audit_log.dropped',
] as const

export type AuditAction = (typeof auditActions)[number]

/** A person who is signed in to the cabinet, or the system user who runs a command. */
export type Actor =
  | { kind: 'OPERATOR'; name: string }
  | {
      kind: 'COMPANY' | 'PARTNER' | 'STAFF'
      /** The login. */
      name: string
      personId: number
      address: string
      agent: string
      requestId: string
    }

/** Values of fields, as JSON stores them. */
export type Fields = Record<string, unknown>

export type Change = {
  what: AuditAction
  /** The changed thing. `name` is for people. */
  subject: { kind: string; id: number | string; name?: string }
  /** The owner. The partner of a company is added. Without an owner only staff see the entry. */
  companyId?: number | null
  partnerId?: number | null
  /** Fields of the subject. Only fields that differ are stored. */
  before?: Fields
  after?: Fields
}

/** Replaces a secret: the log only shows that it changed. */
export const HIDDEN = '***'

const SECRET = /password|secret|token|^hash$|^codes?$|recoverycode|^key$|^link$/i

/**
 * Leaves only fields that differ; without a difference there is nothing to record. Throws for a secret: the caller must
 * write HIDDEN instead.
 */
export function differenceOf({ before, after }: Pick<Change, 'before' | 'after'>) {
  const [was, is] = [plain(before), plain(after)]
  refuseSecrets(was)
  refuseSecrets(is)
  if (!was || !is) return { before: was, after: is, isEmpty: false }
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const changed = names.filter(name => is[name] === HIDDEN || JSON.stringify(was[name]) !== JSON.stringify(is[name]))
  return { before: only(was, changed), after: only(is, changed), isEmpty: changed.length === 0 }
}

/** The value as JSON returns it: dates are texts, undefined values are absent. Money is a bigint and must be formatted. */
const plain = (fields: Fields | undefined): Fields | null =>
  fields === undefined ? null : JSON.parse(JSON.stringify(fields))

function refuseSecrets(value: unknown) {
  if (value === null || typeof value !== 'object') return
  for (const [name, inside] of Object.entries(value)) {
    const isHarmless = inside === HIDDEN || inside === null || typeof inside === 'boolean'
    if (!Array.isArray(value) && SECRET.test(name) && !isHarmless)
      throw new Error(`the field ${name} is a secret and may not be in the audit log`)
    refuseSecrets(inside)
  }
}

const only = (fields: Fields, names: string[]): Fields =>
  Object.fromEntries(names.filter(name => name in fields).map(name => [name, fields[name]]))
