import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'

const LIMIT_MS = 240_000

/**
 * Waits for a condition: repeats the check until it stops throwing. The limit is generous, because it only decides how
 * long a failing test takes: on a busy machine everything may be twenty times slower than on a quiet one.
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

/** Waits until a value stays the same for half a second, and gives it. */
export async function settled<T>(read: () => T | Promise<T>): Promise<T> {
  return eventually(async () => {
    const before = await read()
    await pause(500)
    expect(await read()).toEqual(before)
    return before
  })
}
