import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { listCallbackAttempts, listCallbacks } from '../domain/callbacks/callbacks.ts'
import { callbackKey } from '../domain/callbacks/secrets.ts'
import { CallbackSender, type CallbackSettings } from '../engine/callbacks/sender.ts'
import { type TestDatabase, useDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { aCompany, aPartner, type TestPartner } from './factories.ts'

export type Request = {
  path: string
  headers: IncomingMessage['headers']
  body: string
  /** The parsed body: an event of the partner API, or an array of the messaging API. */
  event: Record<string, unknown>
}
export type TestReceiver = { url: string; port: number; requests: Request[]; answer: Answer }
export type Answer = (request: Request, response: ServerResponse, place: number) => unknown

export const ok: Answer = (_, response) => response.writeHead(200).end('{}')
export const hang: Answer = () => {}

/** Allows connections to local receivers. */
export const local = { allow: ['127.0.0.0/8'] }

/** A company with callbacks, and a callback sender. Every test begins without callbacks and with its own clock. */
export function useCallbackSender() {
  const db: TestDatabase = useDatabase()
  const cleanups: (() => unknown)[] = []
  const world = {
    db,
    partner: undefined as unknown as TestPartner,
    companyId: 0,
    key: callbackKey('a secret of the tests, 32 or longer'),
    travelledMs: 0,
    logged: [] as string[],
    clock: () => new Date(Date.now() + world.travelledMs),
    travel(seconds: number) {
      world.travelledMs += seconds * 1000
    },
    /** Runs at the end of the test, in reverse order of the calls. */
    cleanUpFirst: (cleanup: () => unknown) => void cleanups.unshift(cleanup),
    startSender,
    aReceiver,
    statuses,
    allDelivered: () => eventually(async () => expect(new Set(await statuses())).toEqual(new Set(['DELIVERED']))),
    attempts,
    firstAttempt: () =>
      eventually(async () => {
        const [attempt] = await attempts()
        expect(attempt).toBeDefined()
        return attempt!
      }),
  }

  beforeAll(async () => {
    world.partner = await aPartner(db.sql)
  })

  beforeEach(async () => {
    await db.sql`delete from callbacks`
    await db.sql`delete from receivers`
    world.companyId = await aCompany(db.sql, world.partner)
    world.travelledMs = 0
    world.logged = []
  })

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
    expect(world.logged.filter(line => line.includes('.failed"'))).toEqual([])
  })

  function startSender(settings: Partial<CallbackSettings> = {}) {
    const log = pino({ level: 'debug' }, { write: line => void world.logged.push(line) })
    const { clock, key } = world
    const sender = new CallbackSender({ sql: db.sql, clock, log, settings: { ...local, ...settings }, key })
    cleanups.unshift(() => sender.stop())
    return sender
  }

  /** A receiver on a real socket. It sends `answer`, which a test can change while it runs. */
  async function aReceiver(
    answer: Answer = ok,
    makeServer: (listener: RequestListener) => Server = createServer,
  ): Promise<TestReceiver> {
    const receiver: TestReceiver = { url: '', port: 0, requests: [], answer }
    const server = makeServer(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString()
      const request = { path: incoming.url!, headers: incoming.headers, body, event: JSON.parse(body) }
      const place = receiver.requests.push(request) - 1
      receiver.answer(request, response, place)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    receiver.port = (server.address() as AddressInfo).port
    receiver.url = `http://127.0.0.1:${receiver.port}/hook`
    cleanups.push(() => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    })
    return receiver
  }

  async function statuses() {
    return (await listCallbacks(db.sql, world.companyId, { limit: 100 })).map(({ status }) => status)
  }

  /** The attempts of the newest callback, the newest first. */
  async function attempts() {
    const [callback] = await listCallbacks(db.sql, world.companyId, { limit: 1 })
    return listCallbackAttempts(db.sql, world.companyId, callback!.callbackId)
  }

  return world
}
