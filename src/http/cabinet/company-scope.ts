import Type from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { Sql } from '../../db/sql.ts'
import { requireCompanyWithin } from '../../domain/companies/companies.ts'
import type { Company, CompanyScope } from '../../domain/companies/company.ts'
import type { Viewer } from '../../domain/people/person.ts'
import { Id } from '../schemas.ts'

/**
 * The company of a request. Without it, the route uses the viewer's own company or all companies that the viewer may
 * see.
 */
export const OfCompany = Type.Object({ companyId: Type.Optional(Id) })

/** The company of the request, by default the viewer's own company. */
export function companyOf(sql: Sql, viewer: Viewer, { companyId }: { companyId?: number }): Promise<Company> {
  const wanted = companyId ?? viewer.companyId
  if (wanted === null) throw invalid('companyId: is required')
  return requireCompanyWithin(sql, viewer, wanted)
}

/** A company as the subject of an entry of the audit log. */
export const companySubject = ({ companyId, name }: Pick<Company, 'companyId' | 'name'>) => ({
  companyId,
  subject: { kind: 'company', id: companyId, name },
})

/** The company of the request, by default all companies that the viewer may see. */
export async function scopeOf(sql: Sql, viewer: Viewer, { companyId }: { companyId?: number }): Promise<CompanyScope> {
  if (companyId === undefined) return viewer
  await requireCompanyWithin(sql, viewer, companyId)
  return { kind: 'COMPANY', companyId }
}
