import type { AuditAction } from './audit.ts'

type KindOf<W extends AuditAction> = W extends `${infer Kind}.${string}` ? Kind : never
export type Kind = KindOf<AuditAction>

const kindOf = (what: AuditAction) => what.split('.')[0] as Kind

/** Groups the changes by the kind of the changed object. Both levels keep the order of the server. */
export const changesByKind = (changes: readonly AuditAction[]): [Kind, AuditAction[]][] =>
  [...new Set(changes.map(kindOf))].map(kind => [kind, changes.filter(change => kindOf(change) === kind)])
