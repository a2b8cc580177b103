import { statfs } from 'node:fs/promises'
import type { Logger } from 'pino'

const LOOK_EVERY_MS = 30_000
/** PostgreSQL writes its log in files of 16 MB and ends when it cannot. */
const LOW_BYTES = 256 * 1024 * 1024

/** Says in the log when the disk of the data folder is nearly full, and when there is room again. */
export function watchDisk(folder: string, log: Logger, freeBytesOf = freeBytesIn, everyMs = LOOK_EVERY_MS) {
  let isLow = false
  const look = async () => {
    const freeBytes = await freeBytesOf(folder).catch(() => undefined)
    if (freeBytes === undefined || freeBytes < LOW_BYTES === isLow) return
    isLow = !isLow
    if (isLow) log.warn({ folder, freeBytes }, 'disk.nearly_full')
    else log.info({ folder, freeBytes }, 'disk.has_room')
  }
  void look()
  const timer = setInterval(() => void look(), everyMs).unref()
  return { stop: () => clearInterval(timer) }
}

async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
