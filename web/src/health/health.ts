import { queryOptions } from '@tanstack/react-query'
import type { HealthAnswer } from '../../../src/http/cabinet/service/health.ts'
import { ask, type Wire } from '../api.ts'

export type Health = Wire<HealthAnswer>

const REFRESH_MS = 5000

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => ask<HealthAnswer>('GET', '/health'),
  refetchInterval: REFRESH_MS,
})
