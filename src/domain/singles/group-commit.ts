import { isDatabaseAway, isDatabaseBusy } from '../../base/database-losses.ts'

const MOST_ITEMS = 2000
/** While one group of a company commits, the next one is drafted and waits for the lock of the account. */
const MOST_GROUPS = 2
/** After this time the next group begins without waiting for the group before. */
const LONG_MS = 50

/** Writes the items of several requests in one transaction. Calls `onWritten` just before the commit. */
type WriteGroup<Item, Result> = (companyId: number, items: Item[], onWritten?: () => void) => Promise<Result[]>

type Request<Item, Result> = { items: Item[]; result: PromiseWithResolvers<Result[]> }

/** `isWriting`: the newest group has not reached its commit yet and has not taken long. */
type Queue<Item, Result> = { waiting: Request<Item, Result>[]; groups: number; isWriting: boolean }

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
    const queue = this.#queues.get(companyId) ?? { waiting: [], groups: 0, isWriting: false }
    const request = { items, result: Promise.withResolvers<Result[]>() }
    this.#queues.set(companyId, queue)
    queue.waiting.push(request)
    this.#startNext(companyId, queue)
    return request.result.promise
  }

  /**
   * Starts the next group when the group before is about to commit. A group that began earlier would only wait for the lock
   * of the account, and requests that arrive meanwhile could not join it: groups were a third smaller.
   */
  #startNext(companyId: number, queue: Queue<Item, Result>) {
    if (queue.isWriting || queue.groups === MOST_GROUPS) return
    if (queue.waiting.length > 0) void this.#run(companyId, queue)
    else if (queue.groups === 0) this.#queues.delete(companyId)
  }

  async #run(companyId: number, queue: Queue<Item, Result>) {
    queue.groups += 1
    queue.isWriting = true
    await new Promise(resolve => setImmediate(resolve)) // requests of the same turn of the event loop join the group
    const written = Promise.withResolvers<void>()
    const timer = setTimeout(written.resolve, LONG_MS)
    const ended = this.#writeAll(companyId, takeGroup(queue.waiting), written.resolve)
    await Promise.race([written.promise, ended])
    clearTimeout(timer)
    queue.isWriting = false
    this.#startNext(companyId, queue)
    await ended
    queue.groups -= 1
    this.#startNext(companyId, queue)
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
