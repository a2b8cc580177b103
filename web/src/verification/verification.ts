import { queryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { BlockedAnswer, ListedBlock } from '../../../src/http/cabinet/verification/blocks.ts'
import type { KindPath } from '../../../src/http/cabinet/verification/find-verifier.ts'
import type {
  ListedVerifier,
  ListedWidget,
  Sums as SumsAnswer,
  VerificationAnswer,
} from '../../../src/http/cabinet/verification/statistics.ts'
import type { OfferAnswer, WholeVerifier } from '../../../src/http/cabinet/verification/verifiers.ts'
import { ask, type Wire } from '../api.ts'
import { dayIn, sortIn, textIn } from '../search-values.ts'
import { dateFormat, nameOfCountry, nameOfLanguage } from '../words/intl.ts'
import { locales, useWords } from '../words/words.ts'

export type Verification = Wire<VerificationAnswer>
export type Listed = Wire<ListedVerifier>
export type Widget = Wire<ListedWidget>
export type Sums = Wire<SumsAnswer>
export type Block = Wire<ListedBlock>
export type VerifierDetails = Wire<WholeVerifier>
export type Offer = Wire<OfferAnswer>
export type { KindPath }

export const periods = [7, 14, 30, 90] as const
const USUAL_DAYS = 14

/** The filters in the URL. Days are in UTC, because codes are counted by UTC days. */
export type VerificationSearch = {
  verifier?: string | undefined
  days?: number | undefined
  from?: string | undefined
  to?: string | undefined
  blocked?: string | undefined
  sort?: string | undefined
}

export const readVerification = (search: Record<string, unknown>): VerificationSearch => ({
  verifier: textIn(search.verifier),
  days: periods.find(days => days === search.days),
  from: dayIn(search.from),
  to: dayIn(search.to),
  blocked: textIn(search.blocked),
  ...sortIn(search),
})

/** The filter in the URL, and a function that changes it. */
export function useVerificationSearch() {
  const { company: _, ...filter } = useSearch({ from: '/shell/verification' })
  const navigate = useNavigate()
  const change = (changed: VerificationSearch) =>
    void navigate({ to: '.', search: before => ({ ...before, ...changed }), replace: true, resetScroll: false })
  return { filter, change }
}

export const VERIFICATION = ['verification'] as const
const REFRESH_MS = 15_000

export const verificationQuery = (companyId: number, { verifier, days, from, to }: VerificationSearch) =>
  queryOptions({
    queryKey: [...VERIFICATION, companyId, 'overview', verifier, days, from, to],
    queryFn: () => {
      const since = from ?? firstOf(days ?? USUAL_DAYS, to)
      return ask<VerificationAnswer>('GET', `/verification?${queryOf({ companyId, verifier, from: since, to })}`)
    },
    refetchInterval: REFRESH_MS,
    placeholderData: before => before,
  })

const DAY_MS = 86_400_000

/** The first day of a period of `days` days that ends on the day `to`, or today. */
const firstOf = (days: number, to: string | undefined) =>
  new Date((to === undefined ? Date.now() : Date.parse(to)) - (days - 1) * DAY_MS).toISOString().slice(0, 10)

export const blockedQuery = (companyId: number, search: string) =>
  queryOptions({
    queryKey: [...VERIFICATION, companyId, 'blocked', search],
    queryFn: () => ask<BlockedAnswer>('GET', `/verification/blocked?${queryOf({ companyId, search })}`),
    refetchInterval: REFRESH_MS,
    placeholderData: before => before,
  })

export const offerQuery = (companyId: number) =>
  queryOptions({
    queryKey: [...VERIFICATION, companyId, 'offer'],
    queryFn: () => ask<OfferAnswer>('GET', `/verification/offer?${queryOf({ companyId })}`),
  })

/** Loaded once, because a refresh would overwrite the values that a person edits. */
export const verifierQuery = (kind: KindPath, id: string) =>
  queryOptions({
    queryKey: [...VERIFICATION, kind, id],
    queryFn: () => ask<WholeVerifier>('GET', `/verification/${kind}/${encodeURIComponent(id)}`),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

export function queryOf(given: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(given).filter((pair): pair is [string, string | number] => pair[1] !== undefined)
  return new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
}

/** Names of countries and languages in the reader's language, and formats for UTC days. */
export function useNames() {
  const { language } = useWords()
  const locale = locales[language]
  const day = dateFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' })
  return {
    country: (code: string) => nameOfCountry(locale, code),
    language: (code: string) => capital(nameOfLanguage(locale, code)),
    day: (date: string) => day(date).replace('.', ''),
    compare: new Intl.Collator(locale).compare,
  }
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
