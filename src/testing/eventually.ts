import { setTimeout as pause } from 'node:timers/promises'

/** Waits for a condition: asks again until the check stops throwing, or gives its last word. */
export async function eventually<T>(check: () => T | Promise<T>, options: { withinMs?: number } = {}): Promise<T> {
  const deadline = performance.now() + (options.withinMs ?? 10_000)
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(20)
  }
}
