import { queryOptions } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { AttentionLine, OverviewAnswer, RunningDispatch } from '../../../src/http/cabinet/overview/overview.ts'
import { ask, type Wire } from '../api.ts'
import { useMe } from '../session.ts'

export type Overview = Wire<OverviewAnswer>
export type Attention = Wire<AttentionLine>
export type Running = Wire<RunningDispatch>

const REFRESH_MS = 10_000

/** One request for the whole page, repeated every ten seconds while the page is visible. */
export const overviewQuery = (companyId: number | undefined) =>
  queryOptions({
    queryKey: ['overview', companyId ?? 'all'],
    queryFn: () =>
      ask<OverviewAnswer>('GET', companyId === undefined ? '/overview' : `/overview?companyId=${companyId}`),
    refetchInterval: REFRESH_MS,
  })

/** The company that partners and staff chose in the header. */
export const useChosenCompany = () => useSearch({ from: '/shell' }).company

/** Whether the page shows several companies, so that each line must name its company. */
export const useShowsSeveral = () => {
  const { kind } = useMe()
  return useChosenCompany() === undefined && kind !== 'COMPANY'
}
