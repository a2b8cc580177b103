import { fairShares, jainsIndex } from './fairness.ts'
import { Model, type ModelPlan } from './model.ts'
import { createDraw, createRandom, skewedShares } from './random.ts'

export type Setup = Omit<ModelPlan, 'priorityOf'> & { skew: number; seed: number }

export type Fairness = {
  /** Of the messages that each company got, beside the max-min fair division: 1 is exactly fair. */
  jain: number
  /** The part of its fair share that the company with the smallest part got. */
  worst: number
  /** The part of the largest company in all messages: accepted, and sent. */
  largestDemand: number
  largest: number
}

/** Messages of each company at least, and on average. */
const LEAST_DEMAND = 1000
const MEAN_DEMAND = 5000

/**
 * Every company starts a dispatch at the same moment, the largest of them with some ten thousand times as many messages as the smallest. When half of
 * all messages are sent, the messages that each company got are compared with the fair division.
 */
export function fairnessOf(setup: Setup): Fairness {
  const model = new Model(setup)
  const shares = skewedShares(setup.companies, setup.skew)
  const skewed = setup.companies * (MEAN_DEMAND - LEAST_DEMAND)
  const demands = shares.map(share => LEAST_DEMAND + Math.round(share * skewed))
  for (const [id, messages] of demands.entries()) model.accept(id, messages)
  const half = (setup.companies * MEAN_DEMAND) / 2
  const step = half / perSecondOf(setup) / STEPS
  while (model.recorded < half) model.events.runUntil(model.events.now + step)
  const got = model.companies.map(({ recorded }) => recorded)
  return compared(got, demands)
}

/** Looks at the progress of a scenario. */
const STEPS = 100

function compared(got: number[], demands: Float64Array): Fairness {
  const all = got.reduce((sum, messages) => sum + messages, 0)
  const fair = fairShares(demands, all)
  const parts = got.map((messages, id) => messages / fair[id]!)
  return {
    jain: jainsIndex(parts),
    worst: parts.reduce((least, part) => Math.min(least, part), Number.POSITIVE_INFINITY),
    largestDemand: demands[0]! / demands.reduce((sum, demand) => sum + demand, 0),
    largest: got[0]! / all,
  }
}

/** What the engines and the databases can do together. */
export function perSecondOf({ engines, shards, coresOfShard, cost }: Setup): number {
  return Math.min((engines * 1000) / cost.engine, (shards * coresOfShard * 1000) / cost.database)
}

export type Loss =
  | { kind: 'engine'; isKilled: boolean; restartSeconds: number }
  | { kind: 'shard'; awaySeconds: number }

export type Recovery = {
  /** Seconds until other engines had taken all chunks of the lost engine. */
  takenOver: number
  /** Seconds until no more messages waited than before. */
  caughtUp: number
  /** Messages a second in the worst second after the loss, beside the load. */
  worstSecond: number
  /** Seconds in which companies of other shards got less than half of their messages. */
  slowSecondsOfOthers: number
}

const WARM_UP_S = 10
const WATCHED_S = 120
const ARRIVALS_EVERY_S = 0.1
/** Messages that a company accepts at once. */
const BATCH = 25

/** A steady load, the loss of a node, and the time after it. */
export function recoveryOf(setup: Setup, perSecond: number, loss: Loss): Recovery {
  const model = new Model(setup)
  const random = createRandom(setup.seed)
  const draw = createDraw(skewedShares(setup.companies, setup.skew), random)
  let owed = 0
  model.events.every(ARRIVALS_EVERY_S, () => {
    for (owed += perSecond * ARRIVALS_EVERY_S; owed >= BATCH; owed -= BATCH) model.accept(draw(), BATCH)
  })
  const watch = new Watch(model)
  model.events.runUntil(WARM_UP_S)
  const before = watch.mostWaiting()
  untilAtWork(model)
  watch.begin()
  lose(model, loss)
  model.events.runUntil(model.events.now + WATCHED_S)
  return {
    takenOver: Math.max(0, ...model.takeovers),
    caughtUp: watch.secondsUntil(({ waiting }) => waiting <= before),
    worstSecond: watch.worst(({ recorded }) => recorded) / perSecond,
    slowSecondsOfOthers: watch.count(({ ofOthers }) => ofOthers < (perSecond * shareOfOthers(setup)) / 2),
  }
}

/** A little later, so that the engine that is lost has a chunk. */
function untilAtWork(model: Model) {
  while (model.chunksOfFirstEngine === 0) model.events.runUntil(model.events.now + 0.01)
}

function lose(model: Model, loss: Loss) {
  if (loss.kind === 'shard') return model.loseShard(model.shards.length - 1, loss.awaySeconds)
  model.stopEngine(loss)
  model.events.after(loss.restartSeconds, () => model.startEngine())
}

/** The share of the load that belongs to companies of the shards that stay. The last shard is lost. */
function shareOfOthers({ companies, shards, skew }: Setup): number {
  const shares = skewedShares(companies, skew)
  return shares.reduce((sum, share, i) => sum + (i % shards === shards - 1 ? 0 : share), 0)
}

type Look = { at: number; waiting: number; recorded: number; ofOthers: number }

/** Looks at the model once a second. */
class Watch {
  readonly #model: Model
  #looks: Look[] = []
  #before = { recorded: 0, ofOthers: 0 }

  constructor(model: Model) {
    this.#model = model
    model.events.every(1, () => this.#look())
  }

  begin() {
    this.#looks = []
  }

  mostWaiting(): number {
    return Math.max(...this.#looks.slice(this.#looks.length >> 1).map(({ waiting }) => waiting))
  }

  /** Of the seconds after the first: part of it was before the loss. */
  worst(figureOf: (look: Look) => number): number {
    return Math.min(...this.#looks.slice(1).map(figureOf))
  }

  count(holds: (look: Look) => boolean): number {
    return this.#looks.slice(1).filter(holds).length
  }

  /** From the beginning until the last second in which it did not hold. */
  secondsUntil(holds: (look: Look) => boolean): number {
    return this.#looks.findLastIndex(look => !holds(look)) + 1
  }

  #look() {
    const { recorded, waiting, events } = this.#model
    const lost = this.#model.shards.at(-1)
    const ofOthers = this.#model.companies.reduce((sum, each) => (each.shard === lost ? sum : sum + each.recorded), 0)
    this.#looks.push({
      at: events.now,
      waiting,
      recorded: recorded - this.#before.recorded,
      ofOthers: ofOthers - this.#before.ofOthers,
    })
    this.#before = { recorded, ofOthers }
  }
}
