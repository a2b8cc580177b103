import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { projectDir } from './project.ts'

/** The state of a process, for the pages and metrics that show it. */
export type Vitals = { host: string; pid: number; version: string; memoryBytes: number; loopDelayMs: number }

const RESOLUTION_MS = 20

/** Measures the state of this process. The delay is the longest delay of a timer since the last reading. */
export class VitalSigns {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #fixed = { host: hostname(), pid: process.pid, version: versionOfProgram() }

  constructor() {
    this.#delays.enable()
  }

  read(): Vitals {
    // It measures the time between two timers. The requested time is not part of the delay.
    const loopDelayMs = Math.max(0, Math.round(this.#delays.max / 1e6) - RESOLUTION_MS)
    this.#delays.reset()
    return { ...this.#fixed, memoryBytes: process.memoryUsage.rss(), loopDelayMs }
  }

  stop() {
    this.#delays.disable()
  }
}

export const versionOfProgram = (): string => JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')).version
