import { UsageError } from '../../base/errors.ts'
import { formatMoney, moneyToNumber } from '../../base/money.ts'
import type { Pool } from '../../db/sql.ts'
import { listAllCompanies, requireAnyCompany, setSwitches } from '../../domain/companies/companies.ts'
import type { Company } from '../../domain/companies/company.ts'
import { type Account, billingModes, monthOf } from '../../domain/ledger/account.ts'
import { listAccounts, setBilling, topUp } from '../../domain/ledger/ledger.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
import { amountOption, choiceOption, rateOption } from '../options.ts'
import { table } from '../table.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const companies = await withAccounts(sql, config.billingZone)
    print(companies.map(present), tableOf(companies))
  })
}

type WithAccount = Company & Omit<Account, 'budget' | 'currency'>

async function withAccounts(sql: Pool, billingZone: string): Promise<WithAccount[]> {
  const accounts = await listAccounts(sql, monthOf(new Date(), billingZone))
  const byCompany = new Map(accounts.map(account => [account.companyId, account]))
  return (await listAllCompanies(sql)).map(company => ({ ...byCompany.get(company.companyId)!, ...company }))
}

export async function topUpOne(call: Call) {
  const companyId = idOption(call, 'company')
  const amount = amountOption(call, 'amount')
  const { note } = call.options
  await withDatabase(call.config, async ({ sql }) => {
    const billing = { billingZone: call.config.billingZone, now: new Date() }
    const balance = await orAdvise(
      noCompany(companyId),
      topUp(sql, companyId, { amount, ...(note === undefined ? {} : { note }) }, billing),
    )
    const { currency } = await requireAnyCompany(sql, companyId)
    call.print(
      { companyId, amount: moneyToNumber(amount), balance: moneyToNumber(balance), currency },
      `The balance of company ${companyId} is ${formatMoney(balance)} ${currency} now.`,
    )
  })
}

export async function setOne(call: Call) {
  const companyId = idOption(call, 'company')
  const billing = choiceOption(call, 'billing', billingModes)
  const inbound = choiceOption(call, 'inbound', ['on', 'off'])
  const rate = rateOption(call)
  if (billing === undefined && inbound === undefined && rate === undefined) {
    throw new UsageError('There is nothing to change: give --billing, --inbound or --rate.')
  }
  const switches = {
    ...(inbound === undefined ? {} : { inbound: inbound === 'on' }),
    ...(rate === undefined ? {} : { partsPerSecond: rate }),
  }
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(
      noCompany(companyId),
      sql.begin(async tx => {
        await setSwitches(tx, companyId, switches)
        if (billing) await setBilling(tx, companyId, billing)
      }),
    )
    const changed = (await withAccounts(sql, call.config.billingZone)).find(one => one.companyId === companyId)!
    call.print(present(changed), sentenceAbout(changed))
  })
}

const sentenceAbout = ({ companyId, billing, inbound, partsPerSecond }: WithAccount) =>
  `Company ${companyId} is ${billing}, with inbound messages ${inbound ? 'on' : 'off'} and ${
    partsPerSecond === null ? 'no limit of its own' : `at most ${partsPerSecond} parts a second`
  }.`

const present = (company: WithAccount) => ({
  companyId: company.companyId,
  partnerId: company.partnerId,
  name: company.name,
  counteragentInn: company.counteragentInn,
  status: company.status,
  budget: company.budget === null ? null : { value: moneyToNumber(company.budget), currency: company.currency },
  currency: company.currency,
  balance: moneyToNumber(company.balance),
  reserved: moneyToNumber(company.reserved),
  spent: moneyToNumber(company.spent),
  billing: company.billing,
  inbound: company.inbound,
  rate: company.partsPerSecond,
})

const tableOf = (companies: WithAccount[]) =>
  table(
    ['ID', 'PARTNER', 'STATUS', 'BILLING', 'BUDGET', 'BALANCE', 'RESERVED', 'SPENT', 'NAME'],
    companies.map(c => [
      c.companyId,
      c.partnerId,
      c.status,
      c.billing,
      c.budget === null ? null : formatMoney(c.budget),
      formatMoney(c.balance),
      formatMoney(c.reserved),
      formatMoney(c.spent),
      c.name,
    ]),
  )
