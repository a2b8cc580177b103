import type { ChannelType } from '../../base/channel-types.ts'
import type { Pool } from '../../db/sql.ts'
import type { PagedLane, Place, Queue, RunnableLane } from '../../domain/lanes/lane.ts'
import { lanesInTurn, leasesInTurn } from '../../domain/lanes/lanes.ts'
import type { CompanyTurns } from './turns.ts'

/** Lanes and leases of a company that are read at first; most companies have no more. */
const FIRST_PAGE = 20
const NEXT_PAGE = 200
/** A company whose lanes cannot go is not read any further in this turn. A page that added a serving key does not count. */
const MOST_PAGES = 5
/** Messages of a small lane. */
const SMALL = 50
/** Companies whose first pages are read together. */
const COMPANIES_AT_ONCE = 50

export type LaneQueueContext = {
  sql: Pool
  priority: number
  now: Date
  turns: CompanyTurns
  /** No gateway of the channel has a free place: its lanes need not be read. */
  isFull(channelType: ChannelType): boolean
}

/** The unread lanes of a channel, from `after` on. Without `channelType`: the unread leases of a company. */
type Source = { channelType?: ChannelType; after?: Place }
type Waiting = {
  companyId: number
  sources: Source[]
  pages: number
  lanes: PagedLane[]
  /** Serving keys of lanes that cannot send now. */
  without: Set<string>
  /** A lane of the last page added a serving key. */
  hasNewKey: boolean
}

/**
 * The lanes of one priority that may go in one turn of the scheduler: first by company, then, within a company, the
 * lane that was served longest ago. Lanes are read page by page, and only as far as there is room for them.
 */
export class LaneQueue {
  readonly #context: LaneQueueContext
  readonly #companies = new Map<number, Waiting>()

  /** `queues`: of this priority, with messages to send. `withLeases`: companies that may have leases to be taken over. */
  constructor(context: LaneQueueContext, queues: Queue[], withLeases: number[]) {
    this.#context = context
    for (const companyId of withLeases) this.#waitingOf(companyId).sources.push({})
    for (const { companyId, channelType } of queues)
      if (!context.isFull(channelType)) this.#waitingOf(companyId).sources.push({ channelType })
  }

  #waitingOf(companyId: number): Waiting {
    const waiting = this.#companies.get(companyId) ?? {
      companyId,
      sources: [],
      pages: 0,
      lanes: [],
      without: new Set(),
      hasNewKey: false,
    }
    this.#companies.set(companyId, waiting)
    return waiting
  }

  /** True when there may be another lane. */
  hasMore(): boolean {
    return this.#companies.size > 0
  }

  /** The lane whose turn it is. Returns undefined when the next company turned out to have no lane that may send now. */
  async next(): Promise<PagedLane | undefined> {
    const company = this.#nextCompany()
    if (!company) return undefined
    if (company.lanes.length === 0) await this.#read(company)
    const lane = company.lanes.shift()
    if (!lane) this.#companies.delete(company.companyId)
    return lane
  }

  /** Takes small lanes of a company that are already read and fit: they are started together. */
  takeSmall(companyId: number, most: number, fits: (lane: PagedLane) => boolean): PagedLane[] {
    const company = this.#companies.get(companyId)
    if (!company) return []
    const small = new Set<PagedLane>()
    for (const lane of company.lanes) {
      if (small.size === most) break
      if (isSmall(lane) && fits(lane)) small.add(lane)
    }
    company.lanes = company.lanes.filter(lane => !small.has(lane))
    return [...small]
  }

  /**
   * No lane with the serving key of this lane can send now: the next pages leave them out. Otherwise thousands of lanes
   * whose operator is down would stand before the lanes of the company that can send.
   */
  leaveOut({ companyId, gatewayId, servingKey }: PagedLane): void {
    if (gatewayId) return // a lease that waits for one gateway: other lanes may use another one
    const company = this.#companies.get(companyId)
    if (!company || company.without.has(servingKey)) return
    company.without.add(servingKey)
    company.hasNewKey = true
  }

  /**
   * Counts messages of lanes of one company that were started together. The rest of a lane comes again, behind the other
   * lanes of its company. Returns the number of messages.
   */
  served(companyId: number, served: { lane: PagedLane; messages: number }[], leastCost?: number): number {
    const company = this.#companies.get(companyId)
    for (const { lane, messages } of served)
      if (messages > 0 && !lane.leaseId && lane.waiting > messages)
        company?.lanes.push({ ...lane, waiting: lane.waiting - messages })
    const all = served.reduce((sum, { messages }) => sum + messages, 0)
    if (all > 0) this.#context.turns.served(companyId, all, leastCost)
    else this.#context.turns.tried(companyId)
    return all
  }

  #nextCompany(): Waiting | undefined {
    const { turns } = this.#context
    let next: Waiting | undefined
    for (const company of this.#companies.values())
      if (!next || turns.placeOf(company.companyId) < turns.placeOf(next.companyId)) next = company
    return next
  }

  /** Reads the first pages of this company and of the next companies together, to save statements. */
  async #read(company: Waiting) {
    if (company.pages > 0) return this.#readPage([company], NEXT_PAGE)
    const { turns } = this.#context
    const unread = [...this.#companies.values()].filter(({ pages }) => pages === 0)
    const inTurn = unread.sort((a, b) => turns.placeOf(a.companyId) - turns.placeOf(b.companyId))
    const others = inTurn.filter(other => other !== company).slice(0, COMPANIES_AT_ONCE - 1)
    await this.#readPage([company, ...others], FIRST_PAGE)
  }

  async #readPage(companies: Waiting[], limit: number) {
    const { sql, priority, now, isFull } = this.#context
    const open = companies.filter(({ pages, hasNewKey }) => pages < MOST_PAGES || hasNewKey)
    const wanted = open.flatMap(({ companyId, sources, without }) =>
      sources.map(source => ({ companyId, ...source, without: [...without] })),
    )
    const queues = wanted.filter(
      (one): one is typeof one & Queue => one.channelType !== undefined && !isFull(one.channelType),
    )
    const ofLeases = wanted.filter(({ channelType }) => channelType === undefined)
    const [lanes, leases] = await Promise.all([
      queues.length > 0 ? lanesInTurn(sql, priority, now, queues, limit) : [],
      ofLeases.length > 0 ? leasesInTurn(sql, priority, now, ofLeases, limit) : [],
    ])
    const read = Map.groupBy([...leases, ...lanes], ({ companyId }) => companyId)
    for (const company of companies) take(company, read.get(company.companyId) ?? [], limit)
  }
}

/** A lane with so few messages that its statements cost more than its messages. */
export const isSmall = (lane: RunnableLane): boolean => hasFew(lane) && !lane.leaseId

/** A lane, or a lease to be taken over, with as few messages. */
export const hasFew = ({ waiting }: RunnableLane): boolean => waiting <= SMALL

/** Adds a page to the lanes of a company, and notes where the next page of each source begins. */
function take(company: Waiting, read: PagedLane[], limit: number) {
  if (!company.hasNewKey) company.pages += 1
  company.hasNewKey = false
  company.lanes.push(...read.toSorted(inTurn))
  const bySource = Map.groupBy(read, ({ leaseId, channelType }) => (leaseId ? undefined : channelType))
  company.sources = [...bySource].flatMap(([channelType, lanes]) => {
    const last = lanes.at(-1)
    if (!last || lanes.length < limit) return [] // read to its end
    return { ...(channelType ? { channelType } : {}), after: { place: last.place, id: last.placeId } }
  })
}

/** The sort is stable, so the leases of a lane come before the lane. */
const inTurn = (a: PagedLane, b: PagedLane) => (a.servedAt === b.servedAt ? 0 : a.servedAt - b.servedAt)
