import { createTurnstile, type Turnstile } from '../../base/turnstile.ts'
import type { Pool } from '../../db/sql.ts'

type Turnstiles = { narrow: Turnstile; wide: Turnstile }
const turnstiles = new WeakMap<Pool, Turnstiles>()

/** Searches of one pool wait for each other here. */
export function turnstilesOf(pool: Pool): Turnstiles {
  const known = turnstiles.get(pool)
  if (known) return known
  const made = makeTurnstiles(pool.options.max)
  turnstiles.set(pool, made)
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
function makeTurnstiles(connections: number): Turnstiles {
  const mostWide = Math.max(1, Math.floor(connections / 5))
  const mostNarrow = Math.max(1, Math.floor(connections / 2) - mostWide)
  const bounds = (most: number) => ({ most, mostOfOne: Math.ceil(most / 2), ...waitingBounds })
  return {
    narrow: createTurnstile(bounds(mostNarrow)),
    wide: createTurnstile(bounds(mostWide)),
  }
}
