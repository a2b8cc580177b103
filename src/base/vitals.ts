import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { projectDir } from './project.ts'

/** What a process tells of itself, so that people see how it is doing. */
export type Vitals = { host: string; pid: number; version: string; memoryBytes: number; loopDelayMs: number }

const RESOLUTION_MS = 20

/** Reads how this process is doing. The delay is the longest since the last reading: timers came so much too late. */
export class VitalSigns {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #fixed = { host: hostname(), pid: process.pid, version: versionOfProgram() }

  constructor() {
    this.#delays.enable()
  }

  read(): Vitals {
    // What it measures is the time between two timers: the time that was asked for is no delay.
    const loopDelayMs = Math.max(0, Math.round(this.#delays.max / 1e6) - RESOLUTION_MS)
    this.#delays.reset()
    return { ...this.#fixed, memoryBytes: process.memoryUsage.rss(), loopDelayMs }
  }

  stop() {
    this.#delays.disable()
  }
}

const versionOfProgram = (): string => JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')).version
