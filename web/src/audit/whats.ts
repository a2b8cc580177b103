import type { What } from './audit.ts'

type KindOf<W extends What> = W extends `${infer Kind}.${string}` ? Kind : never
export type Kind = KindOf<What>

const kindOf = (what: What) => what.split('.')[0] as Kind

/** Kinds of changes under the kind of thing that they change, each in the order in which the server names them. */
export const whatsByKind = (whats: readonly What[]) => Object.entries(Object.groupBy(whats, kindOf)) as [Kind, What[]][]
