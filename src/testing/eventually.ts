import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'

const LIMIT_MS = 240_000

/**
 * Waits for a condition: repeats the check until it does not throw. The limit is high, because it only decides how long
 * a failing test takes. A busy machine may be twenty times slower than a quiet machine.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(20)
  }
}

/** Waits until a value stays the same for half a second, and returns it. */
export async function settled<T>(read: () => T | Promise<T>): Promise<T> {
  return eventually(async () => {
    const before = await read()
    await pause(500)
    expect(await read()).toEqual(before)
    return before
  })
}
