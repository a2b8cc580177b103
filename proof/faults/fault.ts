import type { Cleanups } from '../../bench/stage.ts'
import { ENGINES, type Installation, type Installing } from '../installation/installation.ts'
import type { Load } from '../installation/load.ts'

export type Fault = {
  name: string
  about: string
  /** The most messages that may be sent twice, as the documents say. */
  mostTwice: number | ((installation: Installation) => Promise<number>)
  /** Why this machine cannot have the fault. */
  unavailable?(): string | undefined
  /** Prepares an installation of its own. */
  install?(cleanups: Cleanups): Promise<Installing>
  /** Resolves when the fault is over. */
  strike(installation: Installation, load: Load): Promise<unknown>
}

/** docs/architecture.md: at most 6,000 messages of an engine are submitted and not recorded. */
export const OF_ONE_ENGINE = 6000
export const OF_ALL_ENGINES = ENGINES * OF_ONE_ENGINE
