import { SearchLimiter } from '../../base/concurrency/search-limiter.ts'
import type { Pool } from '../../db/sql.ts'

type SearchLimiters = { narrow: SearchLimiter; wide: SearchLimiter }
const limiters = new WeakMap<Pool, SearchLimiters>()

/** The limiters of a pool. All searches of the pool share them. */
export function searchLimitersOf(pool: Pool): SearchLimiters {
  const known = limiters.get(pool)
  if (known) return known
  const made = makeLimiters(pool.options.max)
  limiters.set(pool, made)
  return made
}

/** Most searches take some 10 ms, so that a company's 200 are through before their time is over. */
const waitingBounds = {
  patienceMs: 3000,
  mostWaitingOfOne: 200,
  mostWaiting: 2000,
  refusal: 'Too many searches at once: try again in a moment',
}

/**
 * Each search keeps a connection, and everybody else needs some: all of them together take no more than half of the
 * pool, whatever its size, though one of either kind may always go.
 */
function makeLimiters(connections: number): SearchLimiters {
  const mostWide = Math.max(1, Math.floor(connections / 5))
  const mostNarrow = Math.max(1, Math.floor(connections / 2) - mostWide)
  const bounds = (most: number) => ({ most, mostOfOne: Math.ceil(most / 2), ...waitingBounds })
  return {
    narrow: new SearchLimiter(bounds(mostNarrow)),
    wide: new SearchLimiter(bounds(mostWide)),
  }
}
