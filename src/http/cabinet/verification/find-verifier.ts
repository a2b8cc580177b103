import Type from 'typebox'
import type { Sql } from '../../../db/sql.ts'
import { requireCompanyWithin } from '../../../domain/companies/companies.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import type { Verifier, VerifierKind } from '../../../domain/verifiers/verifier.ts'
import { requireAnyVerifier } from '../../../domain/verifiers/verifiers.ts'
import { OneOf } from '../../schemas.ts'

export const kinds = { verifiers: 'API', widgets: 'WIDGET' } as const satisfies Record<string, VerifierKind>

export const VerifierId = Type.String({ minLength: 1, maxLength: 64 })
export const OfKind = Type.Object({ kind: OneOf(['verifiers', 'widgets']) })
export const ById = Type.Object({ ...OfKind.properties, id: VerifierId })

export type KindPath = keyof typeof kinds

/** The verifier, if the viewer may see its company. */
export async function verifierFor(
  sql: Sql,
  viewer: Viewer,
  { kind, id }: { kind: KindPath; id: string },
): Promise<Verifier> {
  const verifier = await requireAnyVerifier(sql, kinds[kind], id)
  await requireCompanyWithin(sql, viewer, verifier.companyId)
  return verifier
}
