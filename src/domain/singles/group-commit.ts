import { Gathering } from '../../base/concurrency/gathering.ts'
import { isDatabaseAway, isDatabaseBusy } from '../../base/database-losses.ts'

const MOST_ITEMS = 2000
/** While one group of a company commits, the next one is drafted and waits for the lock of the account. */
const MOST_GROUPS = 2
/** After this time the next group begins without waiting for the group before, or for further requests. */
const LONG_MS = 50
/** With fewer requests at once, or with more messages, a group is not made larger: it would gain little. */
const LEAST_REQUESTS = 8
const ENOUGH_ITEMS = 128

/** Writes the items of several requests in one transaction. Calls `onWritten` just before the commit. */
type WriteGroup<Item, Result> = (companyId: number, items: Item[], onWritten?: () => void) => Promise<Result[]>

type Request<Item, Result> = { items: Item[]; result: PromiseWithResolvers<Result[]> }

/**
 * Writes requests of the same company together. Requests that arrive while a group is being written form the next group. A
 * request that arrives while the company has no group is written at once.
 */
export class GroupCommit<Item, Result> {
  readonly #writeGroup: WriteGroup<Item, Result>
  readonly #queues = new Map<number, Queue<Item, Result>>()

  constructor(writeGroup: WriteGroup<Item, Result>) {
    this.#writeGroup = writeGroup
  }

  write(companyId: number, items: Item[]): Promise<Result[]> {
    const queue =
      this.#queues.get(companyId) ?? new Queue((group, onWritten) => this.#writeAll(companyId, group, onWritten))
    const request = { items, result: Promise.withResolvers<Result[]>() }
    this.#queues.set(companyId, queue)
    queue.add(request, () => this.#queues.delete(companyId))
    return request.result.promise
  }

  /**
   * A group that fails is written again request by request, so that one bad request does not spoil the others. There is no
   * second try after a lost connection, because the group may have been committed, nor after a lock time-out, because
   * each request would wait as long again.
   */
  async #writeAll(companyId: number, group: Request<Item, Result>[], onWritten: () => void) {
    try {
      await this.#writeOnce(companyId, group, onWritten)
    } catch (error) {
      const isFinal = group.length === 1 || isDatabaseAway(error) || isDatabaseBusy(error)
      if (isFinal) for (const { result } of group) result.reject(error)
      else for (const request of group) await this.#writeOnce(companyId, [request]).catch(request.result.reject)
    }
  }

  async #writeOnce(companyId: number, group: Request<Item, Result>[], onWritten?: () => void) {
    const items = group.flatMap(request => request.items)
    const results = await this.#writeGroup(companyId, items, onWritten)
    for (const request of group) request.result.resolve(results.splice(0, request.items.length))
  }
}

type WriteAll<Item, Result> = (group: Request<Item, Result>[], onWritten: () => void) => Promise<void>

/** The requests of one company, and when their groups begin. */
class Queue<Item, Result> {
  readonly #writeAll: WriteAll<Item, Result>
  readonly #waiting: Request<Item, Result>[] = []
  #groups = 0
  /** The newest group has not reached its commit yet, or the next one is being gathered. */
  #isBlocked = false
  readonly #gathering = new Gathering()

  constructor(writeAll: WriteAll<Item, Result>) {
    this.#writeAll = writeAll
  }

  /** `onIdle` is called when all requests are written. */
  add(request: Request<Item, Result>, onIdle: () => void) {
    this.#waiting.push(request)
    this.#gathering.arrived()
    this.#startNext(onIdle)
  }

  /**
   * Starts the next group when the group before is about to commit. A group that began earlier would only wait for the lock
   * of the account, and requests that arrive meanwhile could not join it: groups were a third smaller.
   */
  #startNext(onIdle: () => void) {
    if (this.#isBlocked || this.#groups === MOST_GROUPS) return
    if (this.#waiting.length > 0) void this.#run(onIdle)
    else if (this.#groups === 0) onIdle()
  }

  async #run(onIdle: () => void) {
    this.#groups += 1
    this.#isBlocked = true
    await new Promise(resolve => setImmediate(resolve)) // requests of the same turn of the event loop join the group
    const begunAt = performance.now()
    const group = takeGroup(this.#waiting)
    const written = Promise.withResolvers<void>()
    const ended = this.#writeAll(group, written.resolve)
    let isLong = false // not measured: a timer may fire up to a millisecond early
    const long = setTimeout(() => {
      isLong = true
      written.resolve()
    }, LONG_MS)
    await Promise.race([written.promise, ended])
    clearTimeout(long)
    const requests = group.length + this.#waiting.length
    if (!isLong && requests >= LEAST_REQUESTS && sizeOf(this.#waiting) < ENOUGH_ITEMS) {
      await ended
      const tookMs = performance.now() - begunAt
      await this.#gathering.until(() => this.#isEnough(requests), Math.min(tookMs, LONG_MS))
    }
    this.#isBlocked = false
    this.#startNext(onIdle)
    await ended
    this.#groups -= 1
    this.#startNext(onIdle)
  }

  #isEnough(requests: number) {
    return this.#waiting.length >= requests || sizeOf(this.#waiting) >= ENOUGH_ITEMS
  }
}

const sizeOf = (requests: { items: unknown[] }[]) => requests.reduce((size, { items }) => size + items.length, 0)

/** Takes as many requests as fit into a group, and at least one. */
function takeGroup<Item, Result>(waiting: Request<Item, Result>[]): Request<Item, Result>[] {
  let count = 0
  let size = 0
  for (const { items } of waiting) {
    if (count > 0 && size + items.length > MOST_ITEMS) break
    size += items.length
    count += 1
  }
  return waiting.splice(0, count)
}
