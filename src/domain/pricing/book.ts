import { createHash } from 'node:crypto'
import { trafficTypes } from '../../base/channel-types.ts'
import { invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Sql, Transaction } from '../../db/sql.ts'
import { brands } from '../numbering/brand.ts'
import { senderTypes } from '../senders/sender.ts'
import { groupSteps } from './pricing.ts'
import * as store from './store.ts'
import {
  changesAfter,
  type DatedTariff,
  holdsAt,
  pickTariff,
  placeKey,
  type Tariff,
  type TariffPlace,
  type TariffStep,
} from './tariff.ts'

/** Whose tariffs: a partner's own, or the general ones. */
export type BookOwner = { partnerId: number | null; currency: string }

export const GENERAL: BookOwner = { partnerId: null, currency: 'RUB' }

export type NewTariff = TariffPlace & Pick<Tariff, 'pricingModel' | 'steps'>

export type BookChange = {
  /** Each takes the place of the one for the same sender type, brand and traffic type. */
  tariffs?: NewTariff[]
  /** These end, and others hold in their place: for a partner's own, the general ones. */
  ended?: TariffPlace[]
  /** From when on; unless given, at once. */
  from?: Date | undefined
  /** What the caller saw (`versionOf`): refused when the book was changed since. */
  version?: string | undefined
  /** The version is that of one place, not of the whole book. */
  versionPlace?: TariffPlace | undefined
}

export type BookDifference = {
  added: NewTariff[]
  replaced: { before: DatedTariff; after: NewTariff }[]
  ended: DatedTariff[]
  unchanged: NewTariff[]
}

/** The tariffs of one book that hold now or will. */
export async function openBook(sql: Sql, partnerId: number | null): Promise<DatedTariff[]> {
  return groupSteps(await store.selectBook(sql, partnerId, await store.databaseNow(sql)))
}

/** Differs whenever something that holds now or later has changed. */
export function versionOf(tariffs: readonly DatedTariff[]): string {
  const periods = tariffs.map(({ tariffId, until }) => `${tariffId}:${until?.getTime() ?? ''}`).sort()
  return createHash('sha256').update(periods.join()).digest('base64url').slice(0, 16)
}

/** What a change would do to a book as it is now. */
export function differenceOf(
  book: readonly DatedTariff[],
  { tariffs = [], ended = [] }: BookChange,
  from: Date,
): BookDifference {
  const held = new Map(book.filter(tariff => holdsAt(tariff, from)).map(tariff => [placeKey(tariff), tariff]))
  const known = tariffs.map(after => ({ before: held.get(placeKey(after)), after }))
  return {
    added: known.filter(({ before }) => !before).map(({ after }) => after),
    replaced: known.flatMap(({ before, after }) => (before && !isSame(before, after) ? [{ before, after }] : [])),
    ended: ended.flatMap(place => held.get(placeKey(place)) ?? []),
    unchanged: known.filter(({ before, after }) => before && isSame(before, after)).map(({ after }) => after),
  }
}

const isSame = (known: Tariff, tariff: NewTariff) =>
  known.pricingModel === tariff.pricingModel && wordsOf(known.steps) === wordsOf(tariff.steps)

const wordsOf = (steps: TariffStep[]) =>
  steps.map(({ from, price, priceMauBatch }) => `${from}:${price}:${priceMauBatch}`).join()

/**
 * Changes a book from now or from a later moment on. What held before that moment stays as it was. A change that was
 * planned for later still comes at its time: the new tariff holds until then.
 */
export async function changeBook(sql: Transaction, owner: BookOwner, change: BookChange): Promise<BookDifference> {
  await store.lockTariffs(sql)
  const now = await store.databaseNow(sql)
  const from = change.from ?? now
  if (from < now) throw invalidField('from', 'must not be in the past')
  const book = groupSteps(await store.selectBook(sql, owner.partnerId, now))
  refuseStale(book, change)
  const difference = differenceOf(book, change, from)
  for (const tariff of difference.added) await insert(sql, owner, tariff, from, nextStart(book, tariff, from))
  for (const { before, after } of difference.replaced) {
    await store.endTariff(sql, before.tariffId, from)
    await insert(sql, owner, after, from, before.until)
  }
  for (const { tariffId } of difference.ended) await store.endTariff(sql, tariffId, from)
  if (owner.partnerId === null) await refuseGaps(sql, from)
  return difference
}

function refuseStale(book: DatedTariff[], { version, versionPlace }: BookChange) {
  if (version === undefined) return
  const seen = versionPlace ? book.filter(tariff => placeKey(tariff) === placeKey(versionPlace)) : book
  if (versionOf(seen) !== version)
    throw invalid('Somebody else changed these tariffs in the meantime: look at them again')
}

/** When a tariff that was planned for this place begins. */
function nextStart(book: DatedTariff[], place: TariffPlace, from: Date): Date | null {
  const later = book.flatMap(tariff =>
    placeKey(tariff) === placeKey(place) && tariff.validFrom && tariff.validFrom > from ? tariff.validFrom : [],
  )
  return later.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
}

const insert = (sql: Sql, owner: BookOwner, tariff: NewTariff, validFrom: Date, until: Date | null) =>
  store.insertTariff(sql, { ...tariff, ...ownerOf(owner), validFrom, until })

const ownerOf = ({ partnerId, currency }: BookOwner) => ({ partnerId, currency })

const OTHER_OPERATOR = '*'

/** The general tariffs must answer every question at every later time: without a price no message can be accepted. */
async function refuseGaps(sql: Sql, from: Date) {
  const book = await openBook(sql, null)
  const times = [from, ...book.flatMap(tariff => changesAfter(tariff, from))]
  for (const time of times) {
    const held = book.filter(tariff => holdsAt(tariff, time))
    for (const senderType of senderTypes) {
      for (const brand of [...brands, OTHER_OPERATOR]) {
        for (const trafficType of trafficTypes) {
          if (!pickTariff(held, { senderType, brand, trafficType }))
            throw invalid(`Without this tariff there would be no price for ${senderType}, ${brand}, ${trafficType}`)
        }
      }
    }
  }
}

/** Takes back a tariff before its day: the one before it goes on. */
export async function withdrawTariff(sql: Transaction, tariffId: number): Promise<DatedTariff> {
  await store.lockTariffs(sql)
  const tariff = await requireTariff(sql, tariffId)
  const now = await store.databaseNow(sql)
  if (tariff.validFrom === null || tariff.validFrom <= now)
    throw invalid('This tariff holds already: change it instead')
  if (tariff.until && tariff.until <= tariff.validFrom) throw invalid('This tariff was taken back already')
  const book = await openBook(sql, tariff.partnerId)
  const before = book.find(
    one => placeKey(one) === placeKey(tariff) && one.until?.getTime() === tariff.validFrom!.getTime(),
  )
  await store.endTariff(sql, tariffId, tariff.validFrom)
  if (before) await store.endTariff(sql, before.tariffId, tariff.until)
  if (tariff.partnerId === null) await refuseGaps(sql, now)
  return tariff
}

/** A tariff by its id: current, past or planned. */
export async function requireTariff(sql: Sql, tariffId: number): Promise<DatedTariff> {
  const [tariff] = groupSteps(await store.selectDatedSteps(sql, tariffId))
  if (!tariff) throw notFound('Tariff')
  return tariff
}

const MOST_EARLIER = 20

/** Tariffs for the same place that held before. */
export async function earlierTariffs(sql: Sql, tariff: Tariff): Promise<DatedTariff[]> {
  return groupSteps(await store.selectEarlier(sql, tariff, await store.databaseNow(sql), MOST_EARLIER))
}

const MOST_BOOKS = 500

/** Partners; partners with tariffs of their own come first. */
export const listBooks = (sql: Sql) => store.selectBooks(sql, MOST_BOOKS)
