import { setTimeout as pause } from 'node:timers/promises'
import { openConnection } from '../client.ts'
import { inventRecipients } from '../recipients.ts'
import { type Load, load } from './load.ts'
import { type PartSeconds, type System, totalOf } from './system.ts'

/** What one round of a system took, from its first request to the last acknowledged receipt. */
export type Round = {
  delivered: number
  deliveredPerSecond: number
  /** Milliseconds of processor time for one delivered message, of each part and of all. */
  millisecondsByPart: PartSeconds
  milliseconds: number
  peakBytes: number
  /** Transactions for one delivered message, for a system with a database. */
  commits: number | undefined
}

/** What single messages over open connections came to. */
export type Singles = { load: Load; acceptedPerSecond: number; deliveredPerSecond: number }
export type SinglesRound = Round & Singles

/** Single messages over open connections, for some seconds. */
export async function singlesRound(system: System, connections: number, seconds: number): Promise<SinglesRound> {
  let result: Load | undefined
  const round = await measure(system, async () => {
    result = await load(system, connections, seconds)
  })
  if (!result) throw new Error('the load tool did not run')
  if (round.delivered < result.accepted) {
    throw new Error(`${system.name} accepted ${result.accepted} messages and delivered ${round.delivered}`)
  }
  return { ...round, load: result, acceptedPerSecond: result.accepted / result.seconds }
}

/** Runs work that sends messages, and waits for the last of them. */
export async function measure(system: System, work: () => Promise<void>): Promise<Round> {
  const before = {
    counts: await system.smsc.counts(),
    seconds: await system.processorSeconds(),
    commits: await system.commits?.(),
  }
  const memory = new MemoryWatch(system)
  const begun = performance.now()
  await work()
  const ended = await system.smsc.untilQuiet()
  const after = {
    counts: await system.smsc.counts(),
    seconds: await system.processorSeconds(),
    commits: await system.commits?.(),
  }
  const delivered = after.counts.receiptsAcknowledged - before.counts.receiptsAcknowledged
  const millisecondsByPart = Object.fromEntries(
    Object.entries(after.seconds).map(([part, seconds]) => [
      part,
      ((seconds - (before.seconds[part] ?? 0)) * 1000) / delivered,
    ]),
  )
  return {
    delivered,
    deliveredPerSecond: (delivered * 1000) / (ended - begun),
    millisecondsByPart,
    milliseconds: totalOf(millisecondsByPart),
    peakBytes: await memory.stop(),
    commits: after.commits === undefined ? undefined : (after.commits - (before.commits ?? 0)) / delivered,
  }
}

const LOOK_MS = 1000

/** Looks at the memory of a system once a second. */
class MemoryWatch {
  #peak = 0
  #isStopped = false
  readonly #watching: Promise<void>

  constructor(system: System) {
    this.#watching = this.#watch(system)
  }

  async stop(): Promise<number> {
    this.#isStopped = true
    await this.#watching
    return this.#peak
  }

  async #watch(system: System) {
    while (!this.#isStopped) {
      this.#peak = Math.max(this.#peak, await system.memoryBytes())
      await pause(LOOK_MS)
    }
  }
}

/** Milliseconds from the request for a message to its arrival at the operator, in rising order, on an otherwise idle system. */
export async function loneMessages(system: System, count: number, everyMs: number): Promise<number[]> {
  const destinations = inventRecipients(count).map(({ destination }) => destination)
  const connection = await openConnection(system.port())
  const asked = new Map<string, number>()
  for (const destination of destinations) {
    asked.set(destination, performance.timeOrigin + performance.now())
    await connection.ask(bytesFor(system, destination))
    await pause(everyMs)
  }
  connection.close()
  await system.smsc.untilQuiet()
  const arrivals = await system.smsc.arrivals()
  return [...asked].map(([destination, at]) => (arrivals.get(destination) ?? Number.NaN) - at).sort((a, b) => a - b)
}

export function bytesFor({ request }: System, destination: string): Buffer {
  const { method, path, headers, body } = request
  const filled = (text: string) => text.replace('DESTINATION', destination)
  const content = Buffer.from(body === undefined ? '' : filled(body))
  const lines = [
    `${method} ${filled(path)} HTTP/1.1`,
    'Host: localhost',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${content.length}`]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content])
}

export const quantile = (sorted: number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
