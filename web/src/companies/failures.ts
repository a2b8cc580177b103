import { useQuery } from '@tanstack/react-query'
import { overviewQuery } from '../overview/overview.ts'
import type { Shown } from './companies.ts'

/** Adds dispatches that fail more than usual to a company of the list. Only the overview reads them. */
export function useWithFailures(): (shown: Shown) => Shown {
  const { data } = useQuery(overviewQuery(undefined))
  const failures = data?.attention.filter(({ kind }) => kind === 'failures') ?? []
  return shown => {
    const own = failures.filter(line => 'company' in line && line.company.companyId === shown.companyId)
    return { ...shown, attention: [...own, ...shown.attention] }
  }
}
