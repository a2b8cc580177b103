import { isMet } from '../figures.ts'
import type { Entry } from './plan.ts'
import type { Measured } from './results.ts'

/** Says which bench runs, how long everything has taken, and about how long the rest takes. */
export class Progress {
  readonly #entries: Entry[]
  readonly #begun = performance.now()
  readonly #width: number
  #done: { expected: number; used: number } = { expected: 0, used: 0 }
  #ticking: NodeJS.Timeout | undefined

  constructor(entries: Entry[]) {
    this.#entries = entries
    this.#width = Math.max(0, ...entries.map(({ key }) => key.length))
    const expected = entries.reduce((sum, { seconds }) => sum + seconds, 0)
    console.log(`${entries.length} ${entries.length === 1 ? 'bench' : 'benches'}, about ${durationOf(expected)}`)
  }

  begin(entry: Entry) {
    const begun = performance.now()
    const line = () => {
      const spent = (performance.now() - begun) / 1000
      return `${this.#place(entry)}  ${durationOf(spent)}; ${this.#times(entry, spent)}`
    }
    if (!process.stdout.isTTY) return console.log(line())
    this.#ticking = setInterval(() => process.stdout.write(`\r\x1b[K${line()}`), 1000)
  }

  end(measured: Measured) {
    this.stop()
    const entry = this.#entries.find(({ key }) => key === measured.key)
    if (!entry) return
    this.#done = { expected: this.#done.expected + entry.seconds, used: this.#done.used + measured.seconds }
    console.log(`${this.#place(entry)}  ${durationOf(measured.seconds)}: ${resultOf(measured)}`)
  }

  stop() {
    if (!this.#ticking) return
    clearInterval(this.#ticking)
    this.#ticking = undefined
    process.stdout.write('\r\x1b[K')
  }

  #place(entry: Entry): string {
    const number = String(this.#entries.indexOf(entry) + 1).padStart(String(this.#entries.length).length)
    return `${number} of ${this.#entries.length}  ${entry.key.padEnd(this.#width)}`
  }

  #times(entry: Entry, spent: number): string {
    const used = durationOf((performance.now() - this.#begun) / 1000)
    const left = leftOf(this.#entries.slice(this.#entries.indexOf(entry)), spent, this.#done)
    return `${used} used, about ${durationOf(left)} left`
  }
}

/** A machine that took longer than expected so far takes longer for the rest, too. `spent` seconds of the first entry are over. */
export function leftOf(entries: Entry[], spent: number, done: { expected: number; used: number }): number {
  const slowness = done.expected > 0 ? done.used / done.expected : 1
  const [present = 0, ...rest] = entries.map(({ seconds }) => seconds * slowness)
  return Math.max(0, present - spent) + rest.reduce((sum, seconds) => sum + seconds, 0)
}

export function resultOf({ figures, failed }: Pick<Measured, 'figures' | 'failed'>): string {
  if (failed !== undefined) return `not measured: ${failed}`
  const promises = figures.filter(({ target }) => target)
  const met = promises.filter(isMet).length
  return promises.length === 0 ? 'measured, without a target' : `${met} of ${promises.length} targets met`
}

export function durationOf(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}
