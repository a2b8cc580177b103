import { WEIGHTS } from '../../src/engine/sending/scheduler.ts'
import type { Cost } from './costs.ts'
import { type Chunk, type Company, Engine, hasWork } from './engine.ts'
import { Events } from './events.ts'
import { Shard } from './shard.ts'

export type ModelPlan = {
  companies: number
  engines: number
  shards: number
  coresOfShard: number
  /** Chunks of an engine at once. */
  places: number
  answerSeconds: number
  cost: Pick<Cost, 'engine' | 'database'>
  /** The place of a company's priority in WEIGHTS. The default is the last one for all. */
  priorityOf?: (company: number) => number
}

/** Companies, engines and shards in simulated time. */
export class Model {
  readonly events = new Events()
  readonly companies: Company[]
  readonly shards: Shard[]
  readonly #plan: ModelPlan
  #engines: Engine[]
  /** Seconds from the loss of an engine until other engines took its chunks. */
  readonly takeovers: number[] = []
  recorded = 0

  constructor(plan: ModelPlan) {
    const { priorityOf = () => WEIGHTS.length - 1 } = plan
    this.#plan = plan
    this.shards = Array.from({ length: plan.shards }, () => new Shard(this.events, plan.coresOfShard))
    this.companies = Array.from({ length: plan.companies }, (_, id) => ({
      id,
      shard: this.shards[id % plan.shards]!,
      priority: priorityOf(id),
      waiting: 0,
      recorded: 0,
      firstAt: undefined,
      returned: [],
    }))
    this.#engines = Array.from({ length: plan.engines }, () => this.#newEngine())
  }

  /** Messages that wait for an engine. */
  get waiting(): number {
    return this.companies.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /** Chunks of the engine that `stopEngine` would stop. */
  get chunksOfFirstEngine(): number {
    return this.#engines[0]?.chunks ?? 0
  }

  /** The company accepts messages. Engines know a company that has work already. */
  accept(id: number, messages: number) {
    const company = this.companies[id]!
    const isNew = !hasWork(company)
    company.waiting += messages
    if (isNew) this.#offer(company)
  }

  stopEngine(how: { isKilled: boolean }) {
    this.#engines.shift()?.stop(how)
  }

  startEngine() {
    const engine = this.#newEngine()
    this.#engines.push(engine)
    for (const company of this.companies) if (hasWork(company)) engine.offer(company)
  }

  loseShard(number: number, seconds: number) {
    const shard = this.shards[number]!
    shard.lose()
    this.events.after(seconds, () => {
      shard.return()
      for (const company of this.companies) if (company.shard === shard && hasWork(company)) this.#offer(company)
    })
  }

  #newEngine(): Engine {
    const { cost, places, answerSeconds } = this.#plan
    return new Engine({
      events: this.events,
      cost,
      places,
      answerSeconds,
      onExpired: chunk => this.#giveBack(chunk),
      onTaken: ({ lostAt }) => void this.takeovers.push(this.events.now - lostAt!),
      onRecorded: chunk => this.#record(chunk),
    })
  }

  /** Engines that look at the same moment come in another order each time. */
  #offer(company: Company) {
    const first = (company.id + company.recorded) % Math.max(1, this.#engines.length)
    for (let i = 0; i < this.#engines.length; i++) this.#engines[(first + i) % this.#engines.length]!.offer(company)
  }

  #giveBack(chunk: Chunk) {
    chunk.company.returned.push(chunk)
    this.#offer(chunk.company)
  }

  #record({ company, messages }: Chunk) {
    company.recorded += messages
    company.firstAt ??= this.events.now
    this.recorded += messages
  }
}
