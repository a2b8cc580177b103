import { createBatcher } from '../../base/concurrency/batcher.ts'
import type { Pool } from '../../db/sql.ts'
import type { FoundMessage } from './found-message.ts'
import { type Found, NEWEST_FIRST, type Paging, searchMessages } from './message-search.ts'
import { type Filter, isEmptyFilter, uuidsAmong } from './search.ts'
import * as store from './store.ts'

/** Searches messages, and answers similar concurrent searches with one statement. */
export type MessageReader = {
  search(companyId: number, filter: Filter, paging: Paging): Promise<Found>
}

type Lookup = (wanted: store.Wanted) => Promise<FoundMessage[]>

const MOST_AT_ONCE = 100
/** A key with this many messages or more is searched by `searchMessages`. */
const MOST_LOOKED_UP = 50

/**
 * Most clients search for one message or one number. Planning a statement over the partitions of all months takes ten times
 * as long as running it. So one statement answers all such searches of one turn of the event loop.
 */
export function createMessageReader(pool: Pool): MessageReader {
  const lookupBy = (column: store.LookupColumn): Lookup =>
    createBatcher(wanted => lookUp(pool, column, wanted), MOST_AT_ONCE)
  const byUuid = lookupBy('message_uuid')
  const byExternalId = lookupBy('external_id')
  const byDestination = lookupBy('destination')

  async function byMessageId({ companyId, value }: store.Wanted): Promise<FoundMessage[]> {
    const [uuid] = uuidsAmong([value])
    const [ours, theirs] = await Promise.all([
      uuid ? byUuid({ companyId, value: uuid }) : [],
      byExternalId({ companyId, value }),
    ])
    const others = theirs.filter(message => message.uuid !== uuid)
    return [...ours, ...others].sort((a, b) => (a.uuid > b.uuid ? -1 : 1))
  }

  function lookupFor(filter: Filter): [Lookup, string] | undefined {
    const { messageIds, externalIds, destinations, ...others } = filter
    const asked = [
      [byMessageId, messageIds] as const,
      [byExternalId, externalIds] as const,
      [byDestination, destinations] as const,
    ].filter(([, values]) => values)
    const [lookup, values] = asked[0] ?? []
    const isOne = asked.length === 1 && values?.length === 1 && isEmptyFilter(others) && isOutbound(filter)
    return isOne ? [lookup!, values[0]!] : undefined
  }

  return {
    async search(companyId, filter, paging) {
      const { order = NEWEST_FIRST, page, perPage } = paging
      const [lookup, value] = (page === 1 && order.by === 'createdTime' && order.descending && lookupFor(filter)) || []
      const found = await lookup?.({ companyId, value: value! })
      return found && found.length < MOST_LOOKED_UP
        ? { total: found.length, items: found.slice(0, perPage) }
        : searchMessages(pool, companyId, filter, paging)
    },
  }
}

const isOutbound = ({ directions }: Filter) => directions.every(direction => direction === 'outbound')

async function lookUp(pool: Pool, column: store.LookupColumn, wanted: store.Wanted[]): Promise<FoundMessage[][]> {
  const byPlace = wanted.map((one, place) => ({ ...one, place }))
  const ofCompanies = [...Map.groupBy(byPlace, ({ companyId }) => companyId)]
  const rows = await Promise.all(
    ofCompanies.map(async ([companyId, own]) => {
      const values = own.map(({ value }) => value)
      const found = await store.selectWanted(pool, companyId, column, values, MOST_LOOKED_UP)
      return found.map(({ place, ...message }) => ({ place: own[place - 1]?.place, message }))
    }),
  )
  const found = Map.groupBy(rows.flat(), ({ place }) => place)
  return wanted.map((_, place) => found.get(place)?.map(({ message }) => message) ?? [])
}
