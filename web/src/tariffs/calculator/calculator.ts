import { queryOptions } from '@tanstack/react-query'
import type { CalculationAnswer } from '../../../../src/http/cabinet/tariffs/prices.ts'
import { ask } from '../../api.ts'
import { operatorNames } from '../../parts/names/operator-names.ts'
import { integerIn, oneOf } from '../../search-values.ts'
import { type SenderType, senderTypeNames, type TrafficType, trafficTypeNames } from '../names.ts'

/** The input of the calculator. All of it is in the URL. */
export type Question = {
  /** Only for staff without a chosen company. */
  partner?: number | undefined
  channel?: string | undefined
  country?: string | undefined
  sender?: SenderType | undefined
  brand?: (typeof operatorNames)[number] | undefined
  traffic?: TrafficType | undefined
  messages?: number | undefined
  parts?: number | undefined
  volume?: number | undefined
}

export const MOST_MESSAGES = 1_000_000_000
export const MOST_PARTS = 100

function countIn(value: unknown, most: number): number | undefined {
  const count = integerIn(value)
  return count !== undefined && count >= 0 && count <= most ? count : undefined
}

export const readQuestion = (search: Record<string, unknown>): Question => ({
  partner: countIn(search.partner, Number.MAX_SAFE_INTEGER),
  channel: typeof search.channel === 'string' ? search.channel : undefined,
  country: typeof search.country === 'string' && /^([A-Z]{2}|\*)$/.test(search.country) ? search.country : undefined,
  sender: oneOf(senderTypeNames, search.sender),
  brand: oneOf(operatorNames, search.brand),
  traffic: oneOf(trafficTypeNames, search.traffic),
  messages: countIn(search.messages, MOST_MESSAGES),
  parts: countIn(search.parts, MOST_PARTS),
  volume: countIn(search.volume, MOST_MESSAGES),
})

/** The defaults. */
export const usual = {
  channel: 'SMS',
  country: 'RU',
  sender: 'COMMON',
  brand: 'MTS',
  traffic: 'PROMO',
  messages: 10_000,
  parts: 1,
} as const

export function calculationQuery(company: number | undefined, question: Question) {
  const query = new URLSearchParams(given(company, question))
  return queryOptions({
    queryKey: ['tariffs', 'calculation', String(query)],
    queryFn: () => ask<CalculationAnswer>('GET', `/prices/calculation?${query}`),
    placeholderData: before => before,
  })
}

function given(company: number | undefined, question: Question): string[][] {
  const all = {
    channelType: question.channel ?? usual.channel,
    country: question.country ?? usual.country,
    senderType: question.sender ?? usual.sender,
    brand: question.brand ?? usual.brand,
    trafficType: question.traffic ?? usual.traffic,
    messages: question.messages ?? usual.messages,
    parts: question.parts ?? usual.parts,
    volume: question.volume,
    companyId: company,
    partnerId: company === undefined ? question.partner || undefined : undefined,
  }
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
}
