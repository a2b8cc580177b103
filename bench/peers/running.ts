import type { System } from './system.ts'

const running = new Set<System>()

/** Starts a system for some work, and stops it after the work, also when the work fails. */
export async function withSystem<S extends System, T>(
  start: () => Promise<S>,
  use: (system: S) => Promise<T>,
): Promise<T> {
  const system = await start()
  running.add(system)
  try {
    return await use(system)
  } finally {
    running.delete(system)
    await system.stop()
  }
}

/** A bench that is told to end stops its systems first. They have processes that would survive it. */
export function stopAtSignal() {
  const leave = () => {
    const stopped = [...running].map(system => system.stop())
    void Promise.allSettled(stopped).finally(() => process.exit(130))
  }
  process.once('SIGINT', leave).once('SIGTERM', leave)
}
