import { formatMoney, moneyToNumber } from '../base/money.ts'
import { listAllCompanies } from '../domain/companies/companies.ts'
import type { Company } from '../domain/companies/company.ts'
import { type Command, withDatabase } from './command.ts'
import { table } from './table.ts'

export const companyCommands: Command[] = [
  {
    name: 'company list',
    about: 'Lists the companies of all partners.',
    run: ({ config, print }) =>
      withDatabase(config, async ({ sql }) => {
        const companies = await listAllCompanies(sql)
        print(companies.map(present), tableOf(companies))
      }),
  },
]

const present = (company: Company) => ({
  companyId: company.companyId,
  partnerId: company.partnerId,
  name: company.name,
  counteragentInn: company.counteragentInn,
  status: company.status,
  budget: company.budget === null ? null : { value: moneyToNumber(company.budget), currency: company.currency },
})

const tableOf = (companies: Company[]) =>
  table(
    ['ID', 'PARTNER', 'STATUS', 'BUDGET', 'NAME'],
    companies.map(c => [c.companyId, c.partnerId, c.status, c.budget === null ? null : formatMoney(c.budget), c.name]),
  )
