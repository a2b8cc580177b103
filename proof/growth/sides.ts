import type { Child } from '../../bench/child.ts'
import { type Connection, openConnection } from '../../bench/client.ts'
import { startSending, throughEngine } from '../../bench/engine.ts'
import { type Figure, median } from '../../bench/figures.ts'
import { onStages, type Stage } from '../../bench/stage.ts'
import type { Outcome } from '../outcomes.ts'

const ROUNDS = 3
const MESSAGES = 40_000
/** Speed and memory of each size, compared with the smallest. */
const LEAST_SPEED = 0.8
const MOST_MEMORY = 1.2

/** One thing that grows, in several sizes. The first side is the smallest. */
export type Axis = { name: string; about: string; sides: Side[] }

export type Side = {
  label: string
  /** Runs when the service and the engine work. */
  prepare?(stage: Stage, connection: Connection): Promise<unknown>
  /** Messages a second, if it differs from dispatches of 10,000 one after the other. */
  send?(stage: Stage, connection: Connection): Promise<number>
}

export type Measured = { label: string; speeds: number[]; bytes: number }

/** Each side has a database, a service and an engine of its own. They are measured in turn. */
export function compare({ name, sides }: Axis): Promise<Outcome[]> {
  return onStages(sides.length, async stages => {
    const running: Running[] = []
    for (const [i, side] of sides.entries()) running.push(await Running.start(side, stages[i]!))
    for (const one of running) await one.measure() // warms up
    const speeds = running.map(() => [] as number[])
    for (let round = 0; round < ROUNDS; round++) {
      for (const i of inTurn(running.length, round)) speeds[i]!.push(await running[i]!.measure())
    }
    const bytes = await Promise.all(running.map(one => one.peakBytes()))
    return outcomesOf(
      name,
      sides.map(({ label }, i) => ({ label, speeds: speeds[i]!, bytes: bytes[i]! })),
    )
  })
}

/** The order alternates: the first leaves data that must be written to disk during the second. */
function inTurn(count: number, round: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i)
  return round % 2 === 0 ? order : order.reverse()
}

/** The ratio of a round compares measurements that were made together. */
export function outcomesOf(name: string, sides: Measured[]): Outcome[] {
  const [smallest] = sides
  return sides.map(({ label, speeds, bytes }, i) => {
    const ratio = median(speeds.map((speed, round) => speed / smallest!.speeds[round]!))
    const figures: Figure[] = [
      { what: 'messages/s', value: median(speeds), unit: 'messages/s' },
      { what: 'to the smallest', value: ratio, unit: '', ...(i > 0 ? { target: { least: LEAST_SPEED } } : {}) },
      { what: 'memory MB', value: bytes / 1e6, unit: 'MB' },
      {
        what: 'memory, to the smallest',
        value: bytes / smallest!.bytes,
        unit: '',
        ...(i > 0 ? { target: { most: MOST_MEMORY } } : {}),
      },
    ]
    return { name: `${name}: ${label}`, figures }
  })
}

const sendDispatches = (stage: Stage, connection: Connection) => throughEngine(stage, connection, MESSAGES)

/** A side at work. Its memory is the most that the service and the engine have held. */
class Running {
  readonly #stage: Stage
  readonly #side: Side
  readonly #service: Child
  readonly #children: Child[]

  static async start(side: Side, given: Stage): Promise<Running> {
    const children: Child[] = []
    const keep = async (started: Promise<Child>) => {
      children.push(await started)
      return started
    }
    const stage: Stage = {
      ...given,
      startService: env => keep(given.startService(env)),
      startEngine: env => keep(given.startEngine(env)),
    }
    const connection = await startSending(stage)
    await side.prepare?.(stage, connection)
    connection.close()
    return new Running(side, stage, children)
  }

  private constructor(side: Side, stage: Stage, children: Child[]) {
    this.#side = side
    this.#stage = stage
    this.#service = children[0]!
    this.#children = children
  }

  /** Over a new connection: the service closes a connection that is idle while others are measured. */
  async measure(): Promise<number> {
    const { send } = this.#side
    const connection = await openConnection(this.#service.port)
    try {
      return await (send ?? sendDispatches)(this.#stage, connection)
    } finally {
      connection.close()
    }
  }

  async peakBytes(): Promise<number> {
    const peaks = await Promise.all(this.#children.map(child => child.peakBytes()))
    return peaks.reduce((sum, bytes) => sum + bytes, 0)
  }
}
