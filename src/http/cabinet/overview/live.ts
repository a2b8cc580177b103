import { PassThrough } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Logger } from 'pino'
import Type from 'typebox'
import { AppError, invalid } from '../../../base/errors.ts'
import type { Pool } from '../../../db/sql.ts'
import type { Viewer } from '../../../domain/people/person.ts'
import type { LiveDispatch } from '../../../domain/watching/watched.ts'
import { liveState, requireAllWatched } from '../../../domain/watching/watching.ts'
import type { CabinetContext } from '../cabinet-context.ts'

const EVERY_MS = 1000
const HEARTBEAT_EVERY_MS = 15_000
const MOST_VIEWERS = 2000
const MOST_OF_PERSON = 10
const MOST_DISPATCHES = 50
/** The stream of a reader that leaves more bytes unread is closed. */
const MOST_UNREAD_BYTES = 256 * 1024

const Watched = Type.Object({ dispatches: Type.String({ minLength: 1, maxLength: 1000 }) })

/** The data of an event. The page imports this type. An event named `over` says that the session has ended. */
export type LiveEvent = LiveDispatch

/** Changes of dispatches as server-sent events. */
export const liveRoutes =
  ({ sql, clock, log }: CabinetContext): FastifyPluginAsyncTypebox =>
  async api => {
    const live = new LiveDispatches(sql, clock, log)
    api.addHook('preClose', async () => live.endAll())

    api.get(
      '/live',
      { config: { needs: 'traffic.see' }, schema: { querystring: Watched }, exposeHeadRoute: false },
      async ({ viewer, query }, reply) => {
        const dispatchIds = idsIn(query.dispatches)
        await requireAllWatched(sql, viewer, dispatchIds)
        reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no') // proxies must not buffer it
        return reply.send(live.open(viewer, dispatchIds) as never)
      },
    )
  }

function idsIn(list: string): number[] {
  const ids = [...new Set(list.split(',').map(Number))]
  if (!ids.every(id => Number.isSafeInteger(id) && id > 0)) throw invalid('dispatches: must be ids with commas between')
  if (ids.length > MOST_DISPATCHES) throw invalid(`dispatches: must be at most ${MOST_DISPATCHES} ids`)
  return ids
}

type LiveViewer = {
  personId: number
  session: string
  dispatchIds: number[]
  stream: PassThrough
  /** The last event of each dispatch, so that only changes are sent. */
  told: Map<number, string>
}

/**
 * Sends changes of dispatches to viewers. A process queries the database once a second for all its viewers together,
 * and not while it has none. The same query returns the valid sessions. The streams of other sessions end.
 */
export class LiveDispatches {
  readonly #sql: Pool
  readonly #clock: () => Date
  readonly #log: Pick<Logger, 'warn'>
  readonly #viewers = new Set<LiveViewer>()
  readonly #byPerson = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #askedAt = Number.NEGATIVE_INFINITY
  #beatAt = Number.NEGATIVE_INFINITY
  #isAsking = false

  constructor(sql: Pool, clock: () => Date, log: Pick<Logger, 'warn'>) {
    this.#sql = sql
    this.#clock = clock
    this.#log = log
  }

  /** Opens a stream with the changes of these dispatches, or refuses the viewer. */
  open({ personId, sessionHash }: Pick<Viewer, 'personId' | 'sessionHash'>, dispatchIds: number[]): PassThrough {
    const ofPerson = this.#byPerson.get(personId) ?? 0
    if (ofPerson >= MOST_OF_PERSON) throw tooManyOfPerson()
    if (this.#viewers.size >= MOST_VIEWERS) throw tooManyInAll()
    const stream = new PassThrough()
    const viewer = { personId, session: sessionHash.toString('hex'), dispatchIds, stream, told: new Map() }
    this.#viewers.add(viewer)
    this.#byPerson.set(personId, ofPerson + 1)
    stream.once('close', () => this.#leave(viewer))
    stream.write(': live\n\n') // tells the browser that it is connected
    this.#plan()
    return stream
  }

  endAll() {
    clearTimeout(this.#timer)
    for (const { stream } of this.#viewers) stream.end()
  }

  #leave(viewer: LiveViewer) {
    if (!this.#viewers.delete(viewer)) return
    const left = this.#byPerson.get(viewer.personId)! - 1
    if (left > 0) this.#byPerson.set(viewer.personId, left)
    else this.#byPerson.delete(viewer.personId)
  }

  #plan() {
    if (this.#timer || this.#isAsking || this.#viewers.size === 0) return
    const waitMs = Math.max(0, this.#askedAt + EVERY_MS - performance.now())
    this.#timer = setTimeout(() => this.#turn(), waitMs).unref()
  }

  async #turn() {
    this.#timer = undefined
    if (this.#viewers.size === 0) return
    this.#isAsking = true
    this.#askedAt = performance.now()
    try {
      await this.#tellAll([...this.#viewers])
    } catch (error) {
      this.#log.warn({ err: error }, 'live dispatches could not be read; the next try is in a second')
    } finally {
      this.#isAsking = false
      this.#plan()
    }
  }

  async #tellAll(viewers: LiveViewer[]) {
    const dispatchIds = new Set(viewers.flatMap(viewer => viewer.dispatchIds))
    const sessions = new Set(viewers.map(({ session }) => session))
    const state = await liveState(this.#sql, [...dispatchIds], [...sessions], this.#clock())
    const events = new Map(state.dispatches.map(each => [each.dispatchId, eventOf(each)]))
    const isBeat = this.#isTimeToBeat()
    for (const viewer of viewers) {
      if (state.sessions.has(viewer.session)) tell(viewer, events, isBeat)
      else viewer.stream.end('event: over\ndata: {}\n\n')
    }
  }

  /** Proxies and phones drop a connection without traffic. */
  #isTimeToBeat(): boolean {
    if (this.#askedAt - this.#beatAt < HEARTBEAT_EVERY_MS) return false
    this.#beatAt = this.#askedAt
    return true
  }
}

const eventOf = (dispatch: LiveEvent) => `data: ${JSON.stringify(dispatch)}\n\n`

function tell({ dispatchIds, stream, told }: LiveViewer, events: Map<number, string>, isBeat: boolean) {
  if (stream.writableEnded) return
  if (stream.writableLength + stream.readableLength > MOST_UNREAD_BYTES) return void stream.destroy()
  let changes = isBeat ? ': alive\n\n' : ''
  for (const dispatchId of dispatchIds) {
    const event = events.get(dispatchId)
    if (event === undefined || told.get(dispatchId) === event) continue
    told.set(dispatchId, event)
    changes += event
  }
  if (changes) stream.write(changes)
}

const tooManyOfPerson = () =>
  new AppError('too_many_requests', `At most ${MOST_OF_PERSON} pages of a person can be live at a time`, {
    retryAfterSeconds: 30,
    limit: MOST_OF_PERSON,
  })

const tooManyInAll = () =>
  new AppError('not_ready', 'Too many pages are live: try again in a moment', { retryAfterSeconds: 30 })
