import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError, invalid, notFound } from '../../../base/errors.ts'
import { formatMoney, type Money, money, moneyToNumber } from '../../../base/money.ts'
import type { Transaction } from '../../../db/sql.ts'
import { recordChange } from '../../../domain/audit-log/audit-log.ts'
import type { Actor, AuditAction } from '../../../domain/audit-log/entry.ts'
import type { Company } from '../../../domain/companies/company.ts'
import { billingModes, type Terms } from '../../../domain/companies/terms.ts'
import { once } from '../../../domain/idempotency/idempotency.ts'
import { type Account, entryKinds, monthOf, refusalOfTopUp } from '../../../domain/ledger/account.ts'
import { changeTerms, correctBalance, pageOfAccounts, topUpWithin } from '../../../domain/ledger/ledger.ts'
import type { LedgerLine, LinePlace } from '../../../domain/ledger/line.ts'
import { entriesOfLine, pageOfLines } from '../../../domain/ledger/lines.ts'
import { freeOf, type Spending, spendingOf } from '../../../domain/ledger/spending.ts'
import {
  type ChannelLine,
  listStatements,
  type Statement,
  type StatementMonth,
  statementOf,
} from '../../../domain/ledger/statements.ts'
import { languages, type Viewer } from '../../../domain/people/person.ts'
import { Defaulted, Id, OneOf, Page } from '../../schemas.ts'
import type { CabinetApi, CabinetContext } from '../cabinet-context.ts'
import { companyOf, companySubject, OfCompany } from '../company-scope.ts'
import { KeyHeader, onceOf } from '../idempotency-key.ts'
import { asFile, FileSender } from '../reports/file-sender.ts'
import { ledgerCsv, statementCsv } from './statements/csv-files.ts'

const FILES_OF_PERSON = 2
const LINES_OF_PAGE = 50
const ACCOUNTS_OF_PAGE = 50

const Day = Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' })
const Month = Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' })
const Amount = Type.String({ pattern: '^\\d{1,12}(\\.\\d{1,4})?$' })
const SignedAmount = Type.String({ pattern: '^-?\\d{1,12}(\\.\\d{1,4})?$' })
const NullableAmount = Type.Union([Amount, Type.Null()])
const Language = Defaulted(OneOf(languages, { default: 'en' }))

const LedgerFilter = Type.Object({
  ...OfCompany.properties,
  kind: Type.Optional(OneOf(entryKinds)),
  from: Type.Optional(Day),
  /** The period includes this day. */
  to: Type.Optional(Day),
})
const LedgerQuery = Type.Object({
  ...LedgerFilter.properties,
  /** The `next` of the previous page of the list. */
  after: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d\\.\\d{1,16}$' })),
})
const LedgerFile = Type.Object({ ...LedgerFilter.properties, language: Language })
const ByLine = Type.Object({ day: Day, lineId: Id })
const Entries = Type.Object({ ...OfCompany.properties, before: Type.Optional(Id) })
const ByMonth = Type.Object({ month: Month })
const StatementFile = Type.Object({
  ...OfCompany.properties,
  language: Language,
  format: Defaulted(OneOf(['csv', 'pdf'] as const, { default: 'csv' })),
})
const Accounts = Type.Object({ search: Defaulted(Type.String({ maxLength: 100, default: '' })), page: Page })
const TopUp = Type.Object({ amount: Amount, note: Type.String({ maxLength: 200 }) })
const Correction = Type.Object({ amount: SignedAmount, reason: Type.String({ maxLength: 200, pattern: '\\S' }) })
const TermsOf = Type.Object({ budget: NullableAmount, billing: OneOf(billingModes) })
/** `before` are the values that the form showed. If another person changed them meanwhile, the change is refused. */
const TermsChange = Type.Object({ before: TermsOf, after: TermsOf })

/** Types of requests and answers, which the page imports. */
export type TopUpForm = Type.Static<typeof TopUp>
export type CorrectionForm = Type.Static<typeof Correction>
export type TermsForm = Type.Static<typeof TermsChange>
export type TopUpAnswer = { balance: number }
export type MoneyAnswer = ReturnType<typeof presentSpending>
export type LedgerAnswer = {
  currency: string
  zone: string
  lines: ListedLine[]
  dayEnds: { day: string; balance: number }[]
  next: string | null
}
export type ListedLine = ReturnType<typeof presentLine>
export type EntriesAnswer = {
  entries: { entryId: number; at: Date; amount: number; messages: number | null }[]
  next: number | null
}
export type StatementsAnswer = { currency: string; months: ReturnType<typeof presentMonth>[] }
/** `isOver`: the month has ended. Only fees of its last day may still be added. */
export type StatementAnswer = ReturnType<typeof presentStatement> & { isOver: boolean }
export type AccountsAnswer = { page: number; perPage: number; total: number; items: ListedAccount[] }
export type ListedAccount = { companyId: number; name: string } & ReturnType<typeof presentAccount>

const seen = { needs: 'money.see' } as const

/** Money of one company: its balance, its ledger entries, and a statement for each month. */
export const moneyRoutes =
  (context: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    accountRoutes(api, context)
    ledgerRoutes(api, context)
    statementRoutes(api, context)
    paymentRoutes(api, context)
    termsRoutes(api, context)
  }

/** The budget of a company, and the balances of all companies. */
function accountRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const billing = () => ({ billingZone, now: clock() })
  const thisMonth = () => monthOf(clock(), billingZone)

  api.get(
    '/money',
    { config: seen, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<MoneyAnswer> => {
      const company = await companyOf(sql, viewer, query)
      return presentSpending(company, await spendingOf(sql, company.companyId, billing()))
    },
  )

  /** The balances of all companies that the viewer may see. */
  api.get(
    '/money/accounts',
    { config: seen, schema: { querystring: Accounts } },
    async ({ viewer, query: { search, page } }): Promise<AccountsAnswer> => {
      const asked = { search: search.trim(), month: thisMonth(), page, perPage: ACCOUNTS_OF_PAGE }
      const { total, items } = await pageOfAccounts(sql, viewer, asked)
      const listed = items.map(({ companyId, name, ...account }) => ({ companyId, name, ...presentAccount(account) }))
      return { page, perPage: ACCOUNTS_OF_PAGE, total, items: listed }
    },
  )
}

/** The ledger by day, and as a file. */
function ledgerRoutes(api: CabinetApi, context: CabinetContext) {
  const { sql, billingZone } = context
  const files = new FileSender(context, FILES_OF_PERSON)

  api.get(
    '/money/ledger',
    { config: seen, schema: { querystring: LedgerQuery } },
    async ({ viewer, query }): Promise<LedgerAnswer> => {
      const { companyId, currency } = await companyOf(sql, viewer, query)
      const after = query.after === undefined ? undefined : placeIn(query.after)
      const { lines, dayEnds, next } = await pageOfLines(sql, companyId, filterIn(query), after, LINES_OF_PAGE)
      return {
        currency,
        zone: billingZone,
        lines: lines.map(presentLine),
        dayEnds: dayEnds.map(({ day, balance }) => ({ day, balance: moneyToNumber(balance) })),
        next: next && placeText(next),
      }
    },
  )

  api.get(
    '/money/ledger/:day/:lineId',
    { config: seen, schema: { params: ByLine, querystring: Entries } },
    async ({ viewer, params, query }): Promise<EntriesAnswer> => {
      const { companyId } = await companyOf(sql, viewer, query)
      const place = { ...params, day: dayIn(params.day) }
      const { entries, next } = await entriesOfLine(sql, companyId, place, query.before, LINES_OF_PAGE)
      return { entries: entries.map(entry => ({ ...entry, amount: moneyToNumber(entry.amount) })), next }
    },
  )

  api.get('/money/ledger/file', { config: seen, schema: { querystring: LedgerFile } }, async (request, reply) => {
    const { viewer, query } = request
    const company = await companyOf(sql, viewer, query)
    const pieces = ledgerCsv(sql, company, filterIn(query), query.language)
    return files.send(request, reply, { name: `ledger-${company.companyId}`, format: 'csv', pieces })
  })
}

/** The statements of months, and their files. */
function statementRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const thisMonth = () => monthOf(clock(), billingZone)
  const statementFor = (companyId: number, month: string) => {
    if (`${month}-01` > thisMonth()) throw notFound('Statement')
    return statementOf(sql, companyId, `${month}-01`)
  }

  api.get(
    '/money/statements',
    { config: seen, schema: { querystring: OfCompany } },
    async ({ viewer, query }): Promise<StatementsAnswer> => {
      const { companyId, currency } = await companyOf(sql, viewer, query)
      return { currency, months: (await listStatements(sql, companyId, thisMonth())).map(presentMonth) }
    },
  )

  api.get(
    '/money/statements/:month',
    { config: seen, schema: { params: ByMonth, querystring: OfCompany } },
    async ({ viewer, params, query }): Promise<StatementAnswer> => {
      const company = await companyOf(sql, viewer, query)
      const statement = await statementFor(company.companyId, params.month)
      return { ...presentStatement(company, statement), isOver: statement.month < thisMonth() }
    },
  )

  api.get(
    '/money/statements/:month/file',
    { config: seen, schema: { params: ByMonth, querystring: StatementFile } },
    async ({ viewer, params, query: { format, language, ...query } }, reply) => {
      const company = await companyOf(sql, viewer, query)
      const statement = await statementFor(company.companyId, params.month)
      const made = { company, statement, language, at: clock(), zone: billingZone }
      const file = asFile(reply, `statement-${company.companyId}-${params.month}`, format)
      if (format === 'csv') return file.send(statementCsv(made))
      // Loads the library and its fonts with the first request for a PDF.
      const { statementPdf } = await import('./statements/statement-pdf.ts')
      return file.send(await statementPdf(made))
    },
  )
}

/** Top-ups and corrections. */
function paymentRoutes(api: CabinetApi, { sql, clock, billingZone }: CabinetContext) {
  const billing = () => ({ billingZone, now: clock() })

  api.post(
    '/money/top-ups',
    { config: { needs: 'money.change' }, schema: { querystring: OfCompany, headers: KeyHeader, body: TopUp } },
    async (request): Promise<TopUpAnswer> => {
      const { viewer, actor, query, body } = request
      requireStaff(viewer, 'Only staff record a top-up')
      const company = await companyOf(sql, viewer, query)
      const [amount, note] = [money(body.amount), body.note.trim()]
      const noted = note === '' ? {} : { note }
      const refusal = refusalOfTopUp(amount)
      if (refusal) throw invalid(`amount: ${refusal}`)
      return once(sql, onceOf(request, company.companyId), async tx => {
        const after = await topUpWithin(tx, company.companyId, { amount, ...noted }, billing())
        await recordBalance(tx, actor, 'company.topped_up', company, { after, amount, ...noted })
        return { balance: moneyToNumber(after) }
      })
    },
  )

  api.post(
    '/money/corrections',
    { config: { needs: 'money.change' }, schema: { querystring: OfCompany, headers: KeyHeader, body: Correction } },
    async (request): Promise<TopUpAnswer> => {
      const { viewer, actor, query, body } = request
      requireStaff(viewer, 'Only staff correct a balance')
      const company = await companyOf(sql, viewer, query)
      const [amount, reason] = [money(body.amount), body.reason.trim()]
      return once(sql, onceOf(request, company.companyId), async tx => {
        const after = await correctBalance(tx, company.companyId, { amount, reason }, billing())
        await recordBalance(tx, actor, 'company.balance_corrected', company, { after, amount, note: reason })
        return { balance: moneyToNumber(after) }
      })
    },
  )
}

type BalanceChange = { after: Money; amount: Money; note?: string }

function recordBalance(tx: Transaction, actor: Actor, what: AuditAction, company: Company, change: BalanceChange) {
  const { after, amount, ...noted } = change
  return recordChange(tx, actor, {
    what,
    ...companySubject(company),
    before: { balance: formatMoney(after - amount) },
    after: { balance: formatMoney(after), ...noted },
  })
}

/** Payment terms. */
function termsRoutes(api: CabinetApi, { sql }: CabinetContext) {
  api.put(
    '/money/terms',
    { config: { needs: 'money.change' }, schema: { querystring: OfCompany, body: TermsChange } },
    async ({ viewer, actor, query, body }, reply) => {
      const [before, after] = [termsIn(body.before), termsIn(body.after)]
      if (before.billing !== after.billing) requireStaff(viewer, 'Only staff change how a company pays')
      const company = await companyOf(sql, viewer, query)
      await sql.begin(async tx => {
        await changeTerms(tx, company.companyId, before, after)
        const changed = { ...companySubject(company), before: recordedTerms(before), after: recordedTerms(after) }
        const what = before.billing === after.billing ? 'budget.changed' : 'company.changed'
        await recordChange(tx, actor, { what, ...changed })
      })
      return reply.code(204).send()
    },
  )
}

function requireStaff({ kind }: Viewer, message: string) {
  if (kind !== 'STAFF') throw new AppError('access_denied', message)
}

const termsIn = ({ budget, billing }: Type.Static<typeof TermsOf>): Terms => ({
  budget: budget === null ? null : money(budget),
  billing,
})

const recordedTerms = ({ budget, billing }: Terms) => ({
  budget: budget === null ? null : formatMoney(budget),
  billing,
})

const filterIn = ({ kind, from, to }: Type.Static<typeof LedgerFilter>) => ({
  kind,
  from: from === undefined ? undefined : dayIn(from),
  to: to === undefined ? undefined : dayIn(to),
})

/** A day of the calendar. It refuses 30 February. */
function dayIn(text: string): string {
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text)) throw invalid(`${text} is not a day`)
  return text
}

const placeText = ({ day, lineId }: LinePlace) => `${day}.${lineId}`

function placeIn(text: string): LinePlace {
  const [day = '', lineId] = text.split('.')
  return { day: dayIn(day), lineId: Number(lineId) }
}

// Answers --------------------------------------------------------------------------------------------------------------

function presentAccount(account: Account) {
  const { balance, reserved, spent, budget, billing, currency } = account
  const free = freeOf(account)
  return {
    billing,
    currency,
    balance: moneyToNumber(balance),
    reserved: moneyToNumber(reserved),
    spent: moneyToNumber(spent),
    budget: budget === null ? null : moneyToNumber(budget),
    free: free === null ? null : moneyToNumber(free),
  }
}

function presentSpending({ companyId, name }: Company, spending: Spending) {
  const { account, days, channels, pace, paceBefore, packages, fees, withoutDetails, free: _, ...others } = spending
  return {
    company: { companyId, name },
    /** Exact amounts, for the form that changes them. */
    terms: recordedTerms(account),
    ...others,
    ...presentAccount(account),
    pace: moneyToNumber(pace),
    paceBefore: moneyToNumber(paceBefore),
    days: days.map(({ day, amount }) => ({ day, amount: moneyToNumber(amount) })),
    channels: channels.map(presentChannel),
    packages: moneyToNumber(packages),
    fees: moneyToNumber(fees),
    withoutDetails: moneyToNumber(withoutDetails),
  }
}

const presentChannel = ({ amount, ...line }: ChannelLine) => ({ ...line, amount: moneyToNumber(amount) })

const presentLine = ({ amount, ...line }: LedgerLine) => ({ ...line, amount: moneyToNumber(amount) })

const presentMonth = ({ month, opening, toppedUp, corrected, spent, closing }: StatementMonth) => ({
  month: month.slice(0, 7),
  opening: moneyToNumber(opening),
  toppedUp: moneyToNumber(toppedUp),
  corrected: moneyToNumber(corrected),
  spent: moneyToNumber(spent),
  closing: moneyToNumber(closing),
})

const presentStatement = (company: Company, statement: Statement) => ({
  company: {
    companyId: company.companyId,
    name: company.name,
    legalName: company.counteragentName,
    inn: company.counteragentInn,
    kpp: company.counteragentKpp,
    address: company.counteragentAddress,
  },
  currency: company.currency,
  ...presentMonth(statement),
  channels: statement.channels.map(presentChannel),
  tariffs: statement.tariffs.map(({ tariff, messages, parts, amount, packages }) => ({
    tariff,
    messages,
    parts,
    amount: moneyToNumber(amount),
    packages: moneyToNumber(packages),
  })),
  packages: moneyToNumber(statement.packages),
  fees: {
    amount: moneyToNumber(statement.fees.amount),
    count: statement.fees.count,
    lines: statement.fees.lines.map(line => ({ ...line, amount: moneyToNumber(line.amount) })),
  },
  topUps: statement.topUps.map(line => ({ ...line, amount: moneyToNumber(line.amount) })),
  corrections: statement.corrections.map(line => ({ ...line, amount: moneyToNumber(line.amount) })),
  withoutDetails: moneyToNumber(statement.withoutDetails),
})
