import { queryOptions } from '@tanstack/react-query'
import type { CalculationAnswer, PricesAnswer } from '../../../src/http/cabinet/tariffs/prices.ts'
import type { ListedTariff, TariffAnswer, TariffsAnswer } from '../../../src/http/cabinet/tariffs/tariffs.ts'
import { ask, type Wire } from '../api.ts'
import { integerIn, sortIn } from '../search-values.ts'

export type Tariff = Wire<ListedTariff>
export type Step = Tariff['steps'][number]
export type Place = Pick<Tariff, 'senderType' | 'brand' | 'trafficType'>
export type Book = Wire<TariffsAnswer>
export type OpenedTariff = Wire<TariffAnswer>
export type Prices = Wire<PricesAnswer>
export type Calculation = Wire<CalculationAnswer>
export type Cost = Calculation['now']

export type OtherPrice = Prices['channels'][number]

export const TARIFFS = ['tariffs'] as const

/** `book`: the partner whose own tariffs are shown. Without it the general tariffs are shown. */
export type BookSearch = { book?: number | undefined; sort?: string | undefined }

export const readBook = (search: Record<string, unknown>): BookSearch => ({
  book: integerIn(search.book),
  ...sortIn(search),
})

const ofBook = (book: number | undefined) => (book === undefined ? '' : `?partnerId=${book}`)

export const bookQuery = (book: number | undefined) =>
  queryOptions({
    queryKey: [...TARIFFS, 'book', book],
    queryFn: () => ask<TariffsAnswer>('GET', `/tariffs${ofBook(book)}`),
  })

export const tariffQuery = (tariffId: number, company: number | undefined) =>
  queryOptions({
    queryKey: [...TARIFFS, tariffId, company],
    queryFn: () =>
      ask<TariffAnswer>('GET', `/tariffs/${tariffId}${company === undefined ? '' : `?companyId=${company}`}`),
  })

export const pricesQuery = (company: number | undefined) =>
  queryOptions({
    queryKey: ['prices', company],
    queryFn: () => ask<PricesAnswer>('GET', `/prices${company === undefined ? '' : `?companyId=${company}`}`),
  })

/** The URL of the tariffs as a file. */
export const exportAddress = (book: number | undefined) =>
  new URL(`api/tariffs/export${ofBook(book)}`, document.baseURI).href

/** The URL of the prices of other channels and countries as a file. */
export const pricesExportAddress = () => new URL('api/tariffs/prices/export', document.baseURI).href

export const placeKey = ({ senderType, brand, trafficType }: Place) => `${senderType} ${brand} ${trafficType}`

export const holdsNow = ({ validFrom, until }: Tariff, now = Date.now()) =>
  (validFrom === null || Date.parse(validFrom) <= now) && (until === null || Date.parse(until) > now)
