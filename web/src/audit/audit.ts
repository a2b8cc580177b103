import { infiniteQueryOptions } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { AuditAction, AuditAnswer, AuditEntry } from '../../../src/http/cabinet/service/audit.ts'
import { ask, type Wire } from '../api.ts'
import { dayIn, startOfDay, textIn } from '../search-values.ts'

export type Entry = Wire<AuditEntry>
export type { AuditAction }

/** The filters in the URL. Days are in the time zone of the reader. */
export type AuditFilter = {
  person?: string | undefined
  what?: AuditAction | undefined
  subject?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

export const readFilter = (search: Record<string, unknown>): AuditFilter => ({
  person: textIn(search.person),
  what: textIn(search.what) as AuditAction | undefined,
  subject: textIn(search.subject),
  from: dayIn(search.from),
  to: dayIn(search.to),
})

/** The filter in the URL, and a function that changes it. */
export function useFilter() {
  const { company, ...filter } = useSearch({ from: '/shell/audit' })
  const navigate = useNavigate()
  const change = (changed: AuditFilter) =>
    void navigate({ to: '.', search: before => ({ ...before, ...changed }), replace: true })
  return { company, filter, change }
}

export const auditQuery = (company: number | undefined, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', company, filter],
    queryFn: ({ pageParam }) => ask<AuditAnswer>('GET', `/audit?${questionOf(company, filter, pageParam)}`),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
  })

function questionOf(company: number | undefined, { from, to, ...others }: AuditFilter, after: string) {
  const given = {
    ...others,
    companyId: company === undefined ? undefined : String(company),
    from: from && startOfDay(from, 0),
    to: to && startOfDay(to, 1),
    after: after || undefined,
  }
  return new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined))
}
