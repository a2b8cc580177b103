import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money, moneyToNumber } from '../../base/money.ts'
import { printable } from '../../base/printable.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import {
  createCompany,
  listAllCompanies,
  requireAnyCompany,
  setCompanyStatus,
  setSwitches,
} from '../../domain/companies/companies.ts'
import {
  type Company,
  type CompanyStatus,
  comparedFields,
  counteragentTypes,
  type NewCompany,
} from '../../domain/companies/company.ts'
import { type BillingMode, billingModes } from '../../domain/companies/terms.ts'
import { type Account, monthOf } from '../../domain/ledger/account.ts'
import { accountOf, correctBalance, listAccounts, setBilling, topUp } from '../../domain/ledger/ledger.ts'
import { partnerWithLogin } from '../../domain/partners/partners.ts'
import { noCompany, noPartner, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { given, idOption, textOption } from '../command-line.ts'
import { shownAmount } from '../money.ts'
import { amountOption, choiceOption, rateOption } from '../options.ts'
import { recorded } from '../recorded.ts'
import { details, table } from '../table.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const companies = await withAccounts(sql, config.billingZone)
    print(companies.map(present), tableOf(companies))
  })
}

const LONGEST_NAME = 255
const LONGEST_ADDRESS = 1000
const LONGEST_KPP = 20

export async function createOne(call: Call) {
  const company = companyIn(call)
  const login = textOption(call, 'partner')
  await withDatabase(call.config, async ({ sql }) => {
    const partner = await partnerWithLogin(sql, login)
    if (!partner) throw new UsageError(noPartner(login))
    const { companyId } = await recorded(sql, async (tx, record) => {
      const created = await createCompany(tx, partner, company)
      const made = await requireAnyCompany(tx, created.companyId)
      await record({ what: 'company.created', ...subjectOf(made), after: fieldsOf(made) })
      return created
    })
    call.print({ companyId }, `Company ${companyId} (${printable(company.name)}) of ${login} was made.`)
  })
}

function companyIn(call: Call): NewCompany {
  const { name, inn, address, kpp } = call.options as { name: string; inn: string; address?: string; kpp?: string }
  if (name.length > LONGEST_NAME) throw new UsageError(`--name must be 1 to ${LONGEST_NAME} characters.`)
  if (!/^(\d{10}|\d{12})$/.test(inn)) throw new UsageError(`--inn must be 10 or 12 digits, not "${inn}".`)
  if ((address?.length ?? 0) > LONGEST_ADDRESS)
    throw new UsageError(`--address must be at most ${LONGEST_ADDRESS} characters.`)
  if ((kpp?.length ?? 0) > LONGEST_KPP) throw new UsageError(`--kpp must be at most ${LONGEST_KPP} characters.`)
  return {
    name,
    counteragentType: given(choiceOption(call, 'type', counteragentTypes), '--type'),
    counteragentInn: inn,
    budget: call.options.budget === undefined ? null : amountOption(call, 'budget'),
    ...(address === undefined ? {} : { counteragentAddress: address }),
    ...(kpp === undefined ? {} : { counteragentKpp: kpp }),
  }
}

export async function showOne(call: Call) {
  const companyId = idOption(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    const company = await orAdvise(noCompany(companyId), companyWithAccount(sql, companyId, call.config.billingZone))
    call.print(presentInFull(company), detailsOf(company))
  })
}

async function companyWithAccount(sql: Pool, companyId: number, billingZone: string): Promise<WithAccount> {
  const company = await requireAnyCompany(sql, companyId)
  return { ...(await accountOf(sql, companyId, monthOf(await databaseNow(sql), billingZone))), ...company }
}

export const disableOne = (call: Call) =>
  setStatus(call, 'DISABLED', 'is DISABLED: its dispatches wait, and its API keys are refused')

export const enableOne = (call: Call) => setStatus(call, 'ACTIVE', 'is ACTIVE: its dispatches go on, and its keys work')

async function setStatus(call: Call, status: CompanyStatus, words: string) {
  const companyId = idOption(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    await recorded(sql, async (tx, record) => {
      const before = await orAdvise(noCompany(companyId), requireAnyCompany(tx, companyId))
      await setCompanyStatus(tx, companyId, status)
      const statuses = { before: { status: before.status }, after: { status } }
      await record({
        what: status === 'ACTIVE' ? 'company.enabled' : 'company.disabled',
        ...subjectOf(before),
        ...statuses,
      })
    })
    call.print({ companyId, status }, `Company ${companyId} ${words}.`)
  })
}

type WithAccount = Company & Omit<Account, 'budget' | 'currency'>

async function withAccounts(sql: Pool, billingZone: string): Promise<WithAccount[]> {
  const accounts = await listAccounts(sql, monthOf(await databaseNow(sql), billingZone))
  const byCompany = new Map(accounts.map(account => [account.companyId, account]))
  return (await listAllCompanies(sql)).map(company => ({ ...byCompany.get(company.companyId)!, ...company }))
}

export async function topUpOne(call: Call) {
  const companyId = idOption(call, 'company')
  const amount = amountOption(call, 'amount')
  const { note } = call.options
  await withDatabase(call.config, async ({ sql }) => {
    const billing = { billingZone: call.config.billingZone, now: await databaseNow(sql) }
    const { balance, currency } = await recorded(sql, async (tx, record) => {
      const company = await orAdvise(noCompany(companyId), requireAnyCompany(tx, companyId))
      const after = await topUp(tx, companyId, { amount, ...(note === undefined ? {} : { note }) }, billing)
      const balances = {
        before: { balance: formatMoney(after - amount) },
        after: { balance: formatMoney(after), note },
      }
      await record({ what: 'company.topped_up', ...subjectOf(company), ...balances })
      return { balance: after, currency: company.currency }
    })
    call.print(
      { companyId, amount: moneyToNumber(amount), balance: moneyToNumber(balance), currency },
      `The balance of company ${companyId} is ${formatMoney(balance)} ${currency} now.`,
    )
  })
}

export async function correctOne(call: Call) {
  const companyId = idOption(call, 'company')
  const amount = correctionIn(call)
  const reason = reasonIn(call)
  await withDatabase(call.config, async ({ sql }) => {
    const billing = { billingZone: call.config.billingZone, now: await databaseNow(sql) }
    const { balance, currency } = await recorded(sql, async (pool, record) => {
      const company = await orAdvise(noCompany(companyId), requireAnyCompany(pool, companyId))
      const after = await pool.begin(tx => correctBalance(tx, companyId, { amount, reason }, billing))
      const balances = {
        before: { balance: formatMoney(after - amount) },
        after: { balance: formatMoney(after), note: reason },
      }
      await record({ what: 'company.balance_corrected', ...subjectOf(company), ...balances })
      return { balance: after, currency: company.currency }
    })
    call.print(
      { companyId, amount: moneyToNumber(amount), balance: moneyToNumber(balance), currency },
      `The balance of company ${companyId} is ${formatMoney(balance)} ${currency} now.`,
    )
  })
}

/** Two options in place of a sign: `--amount -5` would be read as two options. */
function correctionIn(call: Call): Money {
  const { take, add } = call.options
  if ((take === undefined) === (add === undefined)) throw new UsageError('Give either --take or --add.')
  return take === undefined ? amountOption(call, 'add') : -amountOption(call, 'take')
}

const LONGEST_REASON = 200

function reasonIn({ options }: Call): string {
  const reason = options.reason!.trim()
  if (reason === '' || reason.length > LONGEST_REASON)
    throw new UsageError(`--reason must be 1 to ${LONGEST_REASON} characters.`)
  return reason
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
    await recorded(sql, async (tx, record) => {
      const before = await orAdvise(noCompany(companyId), companyWithAccount(tx, companyId, call.config.billingZone))
      await setSwitches(tx, companyId, switches)
      if (billing) await setBilling(tx, companyId, billing)
      const after = await companyWithAccount(tx, companyId, call.config.billingZone)
      const fields = { before: fieldsOf(before), after: fieldsOf(after) }
      await record({ what: 'company.changed', ...subjectOf(after), ...fields })
    })
    const changed = (await withAccounts(sql, call.config.billingZone)).find(one => one.companyId === companyId)!
    call.print(present(changed), sentenceAbout(changed))
  })
}

const sentenceAbout = ({ companyId, billing, inbound, partsPerSecond }: WithAccount) =>
  `Company ${companyId} is ${billing}, with inbound messages ${inbound ? 'on' : 'off'} and ${
    partsPerSecond === null ? 'no limit of its own' : `at most ${partsPerSecond} parts a second`
  }.`

const subjectOf = ({ companyId, name }: Company) => ({ subject: { kind: 'company', id: companyId, name }, companyId })

const fieldsOf = (company: Company & { billing?: BillingMode }) => ({
  ...comparedFields(company),
  billing: company.billing,
})

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

const presentInFull = (company: WithAccount) => ({
  ...present(company),
  counteragentType: company.counteragentType,
  counteragentName: company.counteragentName,
  counteragentAddress: company.counteragentAddress,
  counteragentKpp: company.counteragentKpp,
  actualAddress: company.actualAddress,
  updatedAt: company.updatedAt.toISOString(),
})

function detailsOf(company: WithAccount): string {
  const amount = (value: Money) => shownAmount(value, company.currency)
  return details([
    ['Company', company.companyId],
    ['Name', company.name],
    ['Partner', company.partnerId],
    ['Status', company.status],
    ['Counteragent', `${company.counteragentName} (${company.counteragentType})`],
    ['INN', company.counteragentInn],
    ['KPP', company.counteragentKpp],
    ['Legal address', company.counteragentAddress],
    ['Actual address', company.actualAddress],
    ['Billing', company.billing],
    ['Balance', amount(company.balance)],
    ['Reserved', amount(company.reserved)],
    ['Spent this month', amount(company.spent)],
    ['Monthly budget', company.budget === null ? 'none' : amount(company.budget)],
    ['Inbound', company.inbound ? 'on' : 'off'],
    ['Limit', company.partsPerSecond === null ? 'none' : `${company.partsPerSecond} parts a second`],
    ['Changed', company.updatedAt.toISOString()],
  ])
}

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
