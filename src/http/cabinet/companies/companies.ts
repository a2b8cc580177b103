import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { searchCompanies } from '../../../domain/companies/companies.ts'
import type { Company } from '../../../domain/companies/company.ts'
import { Defaulted, Page } from '../../schemas.ts'
import type { CabinetContext } from '../cabinet-context.ts'

const Search = Type.Object({
  search: Defaulted(Type.String({ maxLength: 100, default: '' })),
  page: Page,
  perPage: Defaulted(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
})

/** Types of answers, which the page imports. */
export type ListedCompany = ReturnType<typeof present>
export type CompaniesAnswer = { page: number; perPage: number; total: number; items: ListedCompany[] }

/** The companies that the viewer may see: its own company, the companies of its partner, or for staff all companies. */
export const companyRoutes =
  ({ sql }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    api.get(
      '/companies',
      { config: { needs: 'signed in' }, schema: { querystring: Search } },
      async ({ viewer, query }): Promise<CompaniesAnswer> => {
        const { search, page, perPage } = query
        const { total, items } = await searchCompanies(sql, viewer, search.trim(), page, perPage)
        return { page, perPage, total, items: items.map(present) }
      },
    )
  }

const present = ({ companyId, name, status }: Company) => ({ companyId, name, status })
