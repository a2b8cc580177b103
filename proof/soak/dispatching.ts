import { setTimeout as pause } from 'node:timers/promises'
import type { Installation, Sending } from '../installation/installation.ts'
import type { Load } from '../installation/load.ts'

const SIZE = 5000
const LOOK_MS = 1000

/** Every company always has a dispatch that waits for the gateway. */
export function keepDispatching(installation: Installation, load: Load) {
  const stopping = new AbortController()
  const errors: unknown[] = []
  const loops = installation.companies.map(company =>
    keep(installation, load, company, stopping.signal).catch(error => void errors.push(error)),
  )
  return {
    /** Throws if a dispatch could not be started. */
    async stop() {
      stopping.abort()
      await Promise.all(loops)
      if (errors.length > 0) throw errors[0]
    },
  }
}

async function keep(installation: Installation, load: Load, company: Sending, signal: AbortSignal) {
  while (!signal.aborted) {
    if ((await waitingOf(installation, company)) < SIZE) await load.startDispatch(company, SIZE)
    await pause(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

async function waitingOf({ sql }: Installation, { companyId }: Sending): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select coalesce(sum(tail - cursor), 0)::int as waiting from lanes
    where company_id = ${companyId} and dispatch_id is not null and open`
  return row!.waiting
}
