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

/** Most searches take about 10 ms, so 200 waiting searches of a company run before `patienceMs` is over. */
const waitingBounds = {
  patienceMs: 3000,
  mostWaitingOfOne: 200,
  mostWaiting: 2000,
  refusal: 'Too many searches at once: try again in a moment',
}

/**
 * Each search occupies a connection, and other work needs connections too. So all searches together use at most half of
 * the pool. In a small pool, one narrow and one wide search can always run.
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
