import type { What } from './audit.ts'

type KindOf<W extends What> = W extends `${infer Kind}.${string}` ? Kind : never
export type Kind = KindOf<What>

const kindOf = (what: What) => what.split('.')[0] as Kind

/** Groups the changes by the kind of the changed object. Both levels keep the order of the server. */
export const changesByKind = (changes: readonly What[]): [Kind, What[]][] =>
  [...new Set(changes.map(kindOf))].map(kind => [kind, changes.filter(change => kindOf(change) === kind)])
