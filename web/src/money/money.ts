import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type {
  AccountsAnswer,
  EntriesAnswer,
  LedgerAnswer,
  ListedAccount,
  ListedLine,
  MoneyAnswer,
  StatementAnswer,
  StatementsAnswer,
} from '../../../src/http/cabinet/money/money.ts'
import { ask, type Wire } from '../api.ts'
import { dayIn } from '../search-values.ts'

export type Money = Wire<MoneyAnswer>
export type Line = Wire<ListedLine>
export type Statement = Wire<StatementAnswer>
export type StatementMonth = Wire<StatementsAnswer>['months'][number]
export type CompanyAccount = Wire<ListedAccount>
export type Kind = Line['kind']

export const kinds: readonly Kind[] = ['TOPUP', 'CORRECTION', 'MESSAGES', 'MAU_PACKAGE', 'SENDER_FEE']

/** The sums of a statement. Most months have no corrections. */
export const figuresOf = (isCorrected: boolean) =>
  (['opening', 'toppedUp', 'corrected', 'spent', 'closing'] as const).filter(
    figure => isCorrected || figure !== 'corrected',
  )

/** The query key of all data that a top-up or a new budget changes. */
export const MONEY = ['money'] as const

const question = (companyId: number, given: Record<string, string | number | undefined> = {}) =>
  new URLSearchParams(
    Object.entries({ companyId, ...given }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  )

export const moneyQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...MONEY, 'budget', companyId],
    queryFn: () => ask<MoneyAnswer>('GET', `/money?${question(companyId)}`),
  })

export const accountsQuery = (page: number) =>
  queryOptions({
    queryKey: [...MONEY, 'accounts', page],
    queryFn: () => ask<AccountsAnswer>('GET', `/money/accounts?page=${page}`),
  })

/** The filters in the URL. Days are in the billing zone. Both days are included. */
export type LedgerFilter = { kind?: Kind | undefined; from?: string | undefined; to?: string | undefined }

export const readLedgerFilter = (search: Record<string, unknown>): LedgerFilter => ({
  kind: kinds.find(kind => kind === search.kind),
  from: dayIn(search.from),
  to: dayIn(search.to),
})

export function useLedgerFilter() {
  const { company: _, ...filter } = useSearch({ from: '/shell/money/ledger' })
  const navigate = useNavigate()
  const change = (changed: LedgerFilter) =>
    void navigate({ to: '/money/ledger', search: before => ({ ...before, ...changed }), replace: true })
  return { filter, change }
}

export const ledgerQuery = (companyId: number, filter: LedgerFilter) =>
  infiniteQueryOptions({
    queryKey: [...MONEY, 'ledger', companyId, filter],
    queryFn: ({ pageParam }) =>
      ask<LedgerAnswer>('GET', `/money/ledger?${question(companyId, { ...filter, after: pageParam || undefined })}`),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
  })

export const entriesQuery = (companyId: number, { day, lineId }: Line) =>
  infiniteQueryOptions({
    queryKey: [...MONEY, 'entries', companyId, day, lineId],
    queryFn: ({ pageParam }) =>
      ask<EntriesAnswer>(
        'GET',
        `/money/ledger/${day}/${lineId}?${question(companyId, { before: pageParam || undefined })}`,
      ),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next ?? undefined,
  })

export const statementsQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...MONEY, 'statements', companyId],
    queryFn: () => ask<StatementsAnswer>('GET', `/money/statements?${question(companyId)}`),
  })

export const statementQuery = (companyId: number, month: string) =>
  queryOptions({
    queryKey: [...MONEY, 'statement', companyId, month],
    queryFn: () => ask<StatementAnswer>('GET', `/money/statements/${month}?${question(companyId)}`),
  })

/** The URL of a file. */
const fileAt = (path: string) => new URL(`api/money/${path}`, document.baseURI).href

export const ledgerFile = (companyId: number, filter: LedgerFilter, language: string) =>
  fileAt(`ledger/file?${question(companyId, { ...filter, language })}`)

export const statementFile = (companyId: number, month: string, format: 'csv' | 'pdf', language: string) =>
  fileAt(`statements/${month}/file?${question(companyId, { format, language })}`)
