import { newestVersion, whyTooOld } from './migrate.ts'
import type { Sql } from './sql.ts'

const LOOK_EVERY_MS = 1000

/**
 * Looks every second whether the schema still allows this program. If not, it calls `onTooOld` once with the sentence. A
 * program that went on would fail at request after request.
 */
export async function watchSchema(
  sql: Sql,
  onTooOld: (refusal: string) => void,
  { version, everyMs = LOOK_EVERY_MS }: { version?: number; everyMs?: number } = {},
): Promise<{ stop(): void }> {
  const ours = version ?? (await newestVersion())
  let isLooking = false
  const stop = () => clearInterval(timer)
  async function look() {
    if (isLooking) return
    isLooking = true
    // Other loops of the process log that the database cannot be reached.
    const refusal = await whyTooOld(sql, ours).catch(() => undefined)
    isLooking = false
    if (refusal === undefined) return
    stop()
    onTooOld(refusal)
  }
  const timer = setInterval(() => void look(), everyMs).unref()
  return { stop }
}
