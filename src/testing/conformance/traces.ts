import { afterAll, expect } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { printOfTables } from './world.ts'

/**
 * Checks that refused requests change no table. A fingerprint of every table after each of thousands of refusals took
 * most of the time of these tests. Therefore one fingerprint covers all refusals between two requests that may change
 * something. If it differs, the failure lists these refusals.
 */
export function useTraces(db: TestDatabase, besides: string[] = []) {
  let before: Record<string, string> | undefined
  let refused: string[] = []

  /** Call before a request that must be refused. */
  async function expectNoTraceOf(request: string) {
    before ??= await printOfTables(db.sql, besides)
    refused.push(request)
  }

  /** Call before anything that may change a table. */
  async function mayChange() {
    const [was, requests] = [before, refused]
    before = undefined
    refused = []
    if (was) expect(await printOfTables(db.sql, besides), `after:\n${requests.join('\n')}`).toEqual(was)
  }

  afterAll(mayChange)
  return { expectNoTraceOf, mayChange }
}
