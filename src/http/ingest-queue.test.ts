import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { FastifyReply } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Pool } from '../db/sql.ts'
import { usePartnerApi } from '../testing/api.ts'
import { aDispatch, approvedSenders } from '../testing/conformance/world.ts'
import { countLockWaits, PATIENT } from '../testing/database.ts'
import { eventually } from '../testing/eventually.ts'
import { aCompany, aPartner, type TestPartner } from '../testing/factories.ts'
import { MIB } from './bodies/body.ts'
import { createIngestQueue, MOST_WAITING } from './ingest-queue.ts'

describe('the queue', () => {
  /** A client with a body of that size. It can close the connection. */
  const caller = (sizeBytes = 100) => {
    const raw = new EventEmitter()
    return { raw, request: { rawBody: { length: sizeBytes } } } as unknown as FastifyReply & { raw: EventEmitter }
  }

  /** A piece of work that is begun when its turn comes and ends when it is told to. */
  function task() {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const it = { begun: false, end: resolve, fail: reject, work: () => promise }
    it.work = () => {
      it.begun = true
      return promise
    }
    return it
  }

  const turn = () => new Promise(resolve => setImmediate(resolve))

  test('lets in all connections but four, and the next ones in the order they came', async () => {
    const inTurn = createIngestQueue(6)
    const tasks = Array.from({ length: 5 }, task)
    const done = tasks.map(each => inTurn(caller(), each.work))
    await turn()
    expect(tasks.map(({ begun }) => begun)).toEqual([true, true, false, false, false])
    tasks[1]!.end('second')
    expect(await done[1]).toBe('second')
    await turn()
    expect(tasks.map(({ begun }) => begun)).toEqual([true, true, true, false, false])
    tasks[0]!.fail(new Error('no luck'))
    await expect(done[0]).rejects.toThrow('no luck')
    await turn()
    expect(tasks.map(({ begun }) => begun)).toEqual([true, true, true, true, false])
    for (const { end } of tasks) end('')
    await Promise.all([done[2], done[3], done[4]])
    const late = task()
    void inTurn(caller(), late.work)
    expect(late.begun).toBe(true)
    late.end('')
  })

  test('lets in one at a time where connections are few', async () => {
    const inTurn = createIngestQueue(2)
    const [first, second] = [task(), task()]
    const done = [inTurn(caller(), first.work), inTurn(caller(), second.work)]
    await turn()
    expect([first.begun, second.begun]).toEqual([true, false])
    first.end('')
    second.end('')
    await Promise.all(done)
  })

  test('removes a client that closes the connection while waiting', async () => {
    const inTurn = createIngestQueue(5)
    const tasks = Array.from({ length: 3 }, task)
    const callers = tasks.map(() => caller())
    const done = tasks.map((each, i) => inTurn(callers[i]!, each.work))
    callers[1]!.raw.emit('close')
    await expect(done[1]).rejects.toThrow('gone')
    tasks[0]!.end('')
    await done[0]
    await turn()
    expect(tasks.map(({ begun }) => begun)).toEqual([true, false, true])
    expect(callers.map(({ raw }) => raw.listenerCount('close'))).toEqual([0, 0, 0])
    tasks[2]!.end('')
    await done[2]
  })

  test.each([
    ['so many', 100, MOST_WAITING],
    ['so many bytes', 30 * MIB, 2],
  ])('keeps %s waiting and sends the others away', async (_, sizeBytes, room) => {
    const inTurn = createIngestQueue(5)
    const first = task()
    const working = inTurn(caller(), first.work)
    const callers = Array.from({ length: room }, () => caller(sizeBytes))
    const waiting = callers.map(each => inTurn(each, async () => 'done'))
    await expect(inTurn(caller(sizeBytes), async () => 'never')).rejects.toMatchObject({
      kind: 'not_ready',
      retryAfterSeconds: expect.any(Number),
    })
    callers[0]!.raw.emit('close') // makes room for one
    await expect(waiting[0]).rejects.toThrow('gone')
    const another = inTurn(caller(sizeBytes), async () => 'done')
    first.end('')
    await working
    expect(await Promise.all([...waiting.slice(1), another])).toEqual(Array.from({ length: room }, () => 'done'))
  })
})

describe('the service', () => {
  const api = usePartnerApi()
  let outside: Pool
  let partner: TestPartner
  let body: string
  let url: string

  beforeAll(async () => {
    outside = connect(api.url, { max: 2, ...PATIENT })
    partner = await aPartner(api.sql)
    const companyId = await aCompany(api.sql, partner)
    const senderIds = await approvedSenders(api.sql, companyId)
    body = JSON.stringify(aDispatch(companyId, Object.values(senderIds)))
    await api.app.listen({ port: 0, host: '127.0.0.1' })
    url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}/partner/v1`
  })

  afterAll(() => outside.end({ timeout: 1 }))

  const headers = () => ({ authorization: `Bearer ${partner.token}`, 'content-type': 'application/json' })
  const create = (signal?: AbortSignal) =>
    fetch(`${url}/dispatches`, { method: 'POST', headers: headers(), body, ...(signal ? { signal } : {}) })
  const stored = async () => (await outside`select count(*) as count from dispatches`)[0]!.count as number

  /** While the lock is held, no dispatch is created, and each request that creates one keeps a database connection. */
  async function holdUp(): Promise<() => Promise<unknown>> {
    const release = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const lock = outside.begin(async sql => {
      await sql`lock table dispatch_ids in access exclusive mode`
      held.resolve()
      await release.promise
    })
    await held.promise
    return () => {
      release.resolve()
      return lock
    }
  }

  const untilHeldUp = (count: number) => eventually(async () => expect(await countLockWaits(outside)).toBe(count))

  test('answers others while more dispatches are made than there are connections', async () => {
    const letGo = await holdUp()
    const dispatches = Array.from({ length: 14 }, () => create())
    await untilHeldUp(6)
    const other = await fetch(`${url}/company`, { headers: headers(), signal: AbortSignal.timeout(60_000) })
    expect(other.status).toBe(200)
    await letGo()
    const statuses = (await Promise.all(dispatches)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 14 }, () => 200))
  })

  test('does nothing for a client that hung up while it waited', async () => {
    const before = await stored()
    const letGo = await holdUp()
    const patient = Array.from({ length: 6 }, () => create())
    await untilHeldUp(6)
    const arrived = once(api.app.server, 'request')
    const impatient = new AbortController()
    const given = create(impatient.signal)
    const [request] = await arrived
    await eventually(() => expect(request.complete).toBe(true))
    impatient.abort()
    await expect(given).rejects.toThrow()
    await eventually(() => expect(request.socket.destroyed).toBe(true))
    await letGo()
    await Promise.all(patient)
    expect(await stored()).toBe(before + 6)
  })

  test('answers 503 to a request that finds the queue full', async () => {
    const letGo = await holdUp()
    const dispatches = Array.from({ length: 6 + MOST_WAITING + 1 }, () => create())
    const refused = await Promise.race(dispatches) // all the others are held up or wait
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refused.json()).toMatchObject({ error: { code: 5030 } })
    await letGo()
    const statuses = (await Promise.all(dispatches)).map(({ status }) => status)
    expect(statuses.filter(status => status === 200)).toHaveLength(6 + MOST_WAITING)
  })
})
