import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits for a condition: repeats the check until it stops throwing. The limit is generous, because it only decides how
 * long a failing test takes: on a busy machine everything may be twenty times slower than on a quiet one.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: { withinMs?: number } = {}): Promise<T> {
  const deadline = performance.now() + (options.withinMs ?? 90_000)
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(20)
  }
}
