import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { uuid7Batch } from '../../base/uuid7.ts'
import type { StatusEvent } from '../../domain/callbacks/callback.ts'
import {
  enqueueCallbacks,
  listCallbackAttempts,
  listCallbacks,
  replayCallback,
} from '../../domain/callbacks/callbacks.ts'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { type Answer, hang, local, ok, type TestReceiver, useCallbackSender } from '../../testing/callback-sender.ts'
import { eventually } from '../../testing/eventually.ts'
import { aCompany } from '../../testing/factories.ts'
import { selfSigned } from '../../testing/self-signed.ts'
import type { CallbackSettings } from './sender.ts'

const world = useCallbackSender()
const { db, clock, travel, startSender, aReceiver, statuses, allDelivered, attempts, firstAttempt } = world

async function aDeadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

const messages = (count: number) => uuid7Batch(new Date(), count)

const eventOf = (messageUuid: string, event: StatusEvent['event'] = 'delivered'): StatusEvent => ({
  event,
  messageUuid,
  destination: '79160000001',
  at: new Date('2026-03-01T10:00:00Z'),
  ...(event === 'failed' && { errorCode: 7060 }),
})

const enqueue = (url: string, events: StatusEvent[], of = world.companyId) =>
  db.sql.begin(sql =>
    enqueueCallbacks(
      sql,
      of,
      events.map(event => ({ url, event })),
      clock(),
    ),
  )

describe('a receiver that answers', () => {
  test('gets each event as one object, signed, once', async () => {
    const receiver = await aReceiver()
    const [a, b] = messages(2)
    await enqueue(receiver.url, [eventOf(a!, 'sent'), eventOf(b!, 'failed')])
    startSender()
    await allDelivered()

    const bodies = receiver.requests.map(request => request.event)
    expect(bodies).toHaveLength(2)
    const at = '2026-03-01T10:00:00.000Z'
    const common = { destination: '79160000001' }
    expect(bodies).toContainEqual({ event: 'sent', messageUuid: a, ...common, status: 'SENT', sentAt: at })
    expect(bodies).toContainEqual({
      event: 'failed',
      messageUuid: b,
      ...common,
      status: 'FAILED',
      failedAt: at,
      errorCode: 7060,
    })
    const key = Buffer.from(
      (await callbackSecretOf(db.sql, world.companyId, world.key)).replace('whsec_', ''),
      'base64',
    )
    for (const { headers, body } of receiver.requests) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      expect(headers['content-type']).toBe('application/json')
      expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
    }
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
    expect(await attempts()).toMatchObject([{ triedEvents: 2, deliveredEvents: 2, statusCode: 200, error: null }])
  })

  test('gets login and password of the address decoded, and neither appears anywhere else', async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(500).end())
    const url = receiver.url.replace('http://', 'http://us%40er:p%3Ass%20w%C3%B6rd@')
    await enqueue(`${url}?a=b%20c`, [eventOf(messages(1)[0]!)])
    startSender()
    await firstAttempt()
    const [request] = receiver.requests
    expect(Buffer.from(request!.headers.authorization!.replace('Basic ', ''), 'base64').toString()).toBe(
      'us@er:p:ss wörd',
    )
    expect(request!.path).toBe('/hook?a=b%20c')
    const seen = [
      ...world.logged,
      JSON.stringify(await db.sql`select * from callback_attempts`),
      JSON.stringify(await db.sql`select * from receivers`),
      JSON.stringify(await listCallbacks(db.sql, world.companyId, { limit: 10 })),
    ].join('\n')
    expect(world.logged.join()).toContain('callback.attempted')
    expect(seen).not.toMatch(/p%3Ass|p:ss|w%C3%B6rd|wörd|cDpzcy/)
  })

  test('slowly gets every event, four requests at a time', async () => {
    let now = 0
    let most = 0
    const receiver = await aReceiver((_, response) => {
      most = Math.max(most, ++now)
      setTimeout(() => {
        now -= 1
        response.end()
      }, 30)
    })
    await enqueue(
      receiver.url,
      messages(40).map(uuid => eventOf(uuid)),
    )
    startSender()
    await allDelivered()
    expect(receiver.requests).toHaveLength(40)
    expect(most).toBe(4)
  })

  test('with a huge body is not read to the end, and its status counts', async () => {
    let written = 0
    const receiver = await aReceiver((_, response) => {
      const chunk = randomBytes(16_384)
      const more = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length
      }
      response.on('drain', more)
      more()
    })
    await enqueue(receiver.url, [eventOf(messages(1)[0]!)])
    startSender()
    await allDelivered()
    expect(written).toBeLessThan(50_000_000)
    expect(await attempts()).toMatchObject([{ statusCode: 200 }])
  })

  test('and closes idle connections gets every event', async () => {
    const receiver = await aReceiver((_, response) => {
      response.end()
      setImmediate(() => response.socket?.destroy())
    })
    await enqueue(
      receiver.url,
      messages(60).map(uuid => eventOf(uuid)),
    )
    startSender()
    await allDelivered()
  })
})

describe('an attempt fails, and the event waits, when the receiver', () => {
  const refuseTo = async (answer: Answer, settings: Partial<CallbackSettings> = {}) => {
    const receiver = await aReceiver(answer)
    await enqueue(receiver.url, [eventOf(messages(1)[0]!)])
    startSender(settings)
    const attempt = await firstAttempt()
    expect(await statuses()).toEqual(['WAITING'])
    return { receiver, attempt }
  }

  test('answers 500: the event is sent again after the pause, not earlier, and with the same id', async () => {
    const { receiver, attempt } = await refuseTo((_, response, place) => response.writeHead(place ? 200 : 500).end())
    expect(attempt).toMatchObject({ statusCode: 500, error: null, triedEvents: 1, deliveredEvents: 0 })
    travel(270)
    const other = await aReceiver()
    await enqueue(other.url, [eventOf(messages(1)[0]!)])
    await eventually(() => expect(other.requests).toHaveLength(1)) // by then the engine has read the due receivers again
    expect(receiver.requests).toHaveLength(1)
    travel(31)
    await allDelivered()
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([ids[0], ids[0]])
    const [, callback] = await listCallbacks(db.sql, world.companyId, { limit: 2 })
    const tries = await listCallbackAttempts(db.sql, world.companyId, callback!.callbackId)
    expect(tries).toMatchObject([{ statusCode: 200 }, { statusCode: 500 }])
  })

  test('redirects: the redirect is not followed', async () => {
    const elsewhere = await aReceiver()
    const { attempt } = await refuseTo((_, response) => response.writeHead(307, { location: elsewhere.url }).end())
    expect(attempt.statusCode).toBe(307)
    expect(elsewhere.requests).toEqual([])
  })

  test('closes the connection without an answer', async () => {
    const { attempt } = await refuseTo((_, response) => response.socket!.destroy())
    expect(attempt).toMatchObject({ statusCode: null, error: 'connection closed without an answer' })
  })

  test('does not answer in time', async () => {
    const { attempt } = await refuseTo(hang, { timeoutMs: 100 })
    expect(attempt.error).toBe('no answer in time')
  })

  test('sends an endless body: its status counts, and the time is limited', async () => {
    const receiver = await aReceiver((_, response) => void response.writeHead(200).write('a'))
    await enqueue(receiver.url, [eventOf(messages(1)[0]!)])
    startSender({ timeoutMs: 2000, retrySeconds: 1 }) // on a busy machine the status may come too late: then the event is sent again
    await allDelivered()
  })

  test('refuses the connection', async () => {
    await enqueue(`http://127.0.0.1:${await aDeadPort()}/`, [eventOf(messages(1)[0]!)])
    startSender()
    expect((await firstAttempt()).error).toBe('connection refused')
  })

  test('has a host name that does not exist', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
    }
    await enqueue('http://nowhere.example/', [eventOf(messages(1)[0]!)])
    startSender({ resolve })
    expect((await firstAttempt()).error).toBe('host not found')
  })

  test('has no http address', async () => {
    await enqueue('no address', [eventOf(messages(1)[0]!)])
    startSender()
    expect((await firstAttempt()).error).toBe('no http or https address')
  })

  test('has a self-signed certificate or no TLS', async () => {
    const secure = await aReceiver(ok, listener => createSecureServer(selfSigned('127.0.0.1'), listener))
    const plain = await aReceiver()
    await enqueue(secure.url.replace('http:', 'https:'), [eventOf(messages(1)[0]!)])
    startSender()
    expect((await firstAttempt()).error).toMatch(/^secure connection failed: (DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS\w+)$/)
    await db.sql`delete from callbacks`
    await enqueue(plain.url.replace('http:', 'https:'), [eventOf(messages(1)[0]!)])
    expect((await firstAttempt()).error).toMatch(/^secure connection failed|^request failed: EPROTO/)
    expect([...secure.requests, ...plain.requests]).toEqual([])
  })
})

describe('addresses', () => {
  const REFUSED = 'the address is in a network that is not allowed'

  test.each([
    '127.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0x7f.1',
    '0177.0.0.01',
    '2130706433',
    '127.1',
    '127.0.0.1.',
    '１２７.0.0.1',
    'localhost',
    'user:word@localhost',
    'example.com@127.0.0.1',
    '0',
    '[::]',
  ])('no connection is made to %s unless the settings allow it', async host => {
    const receiver = await aReceiver()
    await enqueue(`http://${host}:${receiver.port}/`, [eventOf(messages(1)[0]!)])
    startSender({ allow: [] })
    expect((await firstAttempt()).error).toBe(REFUSED)
    expect(receiver.requests).toEqual([])
  })

  test('a host name is checked by the address that it has when the connection is made', async () => {
    const receiver = await aReceiver()
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]
    await enqueue(`http://innocent.example:${receiver.port}/`, [eventOf(messages(1)[0]!)])
    const sender = startSender({ allow: [], resolve })
    expect((await firstAttempt()).error).toBe(REFUSED)
    await sender.stop()
    startSender({ resolve })
    travel(301)
    await allDelivered()
    expect(receiver.requests[0]!.headers.host).toBe(`innocent.example:${receiver.port}`)
  })

  test('requests come from the source address of the settings', async () => {
    const sources: (string | undefined)[] = []
    const receiver = await aReceiver((_, response) => {
      sources.push(response.socket!.remoteAddress)
      response.end()
    })
    await enqueue(receiver.url, [eventOf(messages(1)[0]!)])
    startSender({ sourceIp: '127.0.0.9' })
    await allDelivered()
    expect(sources).toEqual(['127.0.0.9'])
  })
})

describe('receivers do not disturb each other:', () => {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]

  test('while one receiver does not answer, the others get every event', async () => {
    const hanging = await aReceiver(hang)
    const others = await Promise.all([aReceiver(), aReceiver(), aReceiver()])
    await enqueue(
      hanging.url,
      messages(500).map(uuid => eventOf(uuid)),
    )
    for (const other of others)
      await enqueue(
        other.url,
        messages(300).map(uuid => eventOf(uuid)),
      )
    startSender({ timeoutMs: 240_000 }) // a request that ends makes room for the next one
    await eventually(() => {
      for (const other of others) expect(other.requests).toHaveLength(300)
    })
    expect(hanging.requests).toHaveLength(4)
  })

  test('more hanging receivers than sessions do not stop the others', async () => {
    const hanging = await aReceiver(hang)
    const other = await aReceiver()
    for (let i = 0; i < 200; i++) {
      await enqueue(
        `http://h${i}.example:${hanging.port}/`,
        messages(10).map(uuid => eventOf(uuid)),
      )
    }
    await enqueue(
      other.url,
      messages(300).map(uuid => eventOf(uuid)),
    )
    // On a busy machine requests to the other receiver may time out as well. They are sent again.
    startSender({ resolve, timeoutMs: 2000, retrySeconds: 1 })
    await eventually(() => expect(new Set(other.requests.map(({ body }) => body)).size).toBe(300))
  })

  test('a wrong address of one company does not stop another company at the same host', async () => {
    const receiver = await aReceiver(({ path }, response) => response.writeHead(path === '/wrong' ? 404 : 200).end())
    const neighbour = await aCompany(db.sql, world.partner)
    await enqueue(
      receiver.url.replace('/hook', '/wrong'),
      messages(100).map(uuid => eventOf(uuid)),
      neighbour,
    )
    await enqueue(
      receiver.url,
      messages(100).map(uuid => eventOf(uuid)),
    )
    startSender()
    await allDelivered()
  })

  test('a receiver that fails 20 times in a row is probed with one event, and the rest follows on success', async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(503).end())
    await enqueue(
      receiver.url,
      messages(300).map(uuid => eventOf(uuid)),
    )
    startSender()
    const failures = (count: number) =>
      eventually(async () => {
        const [row] = await db.sql`select failures, claimed_until < now() as free from receivers`
        expect(row).toEqual({ failures: expect.any(Number), free: true })
        expect(row!.failures).toBeGreaterThanOrEqual(count)
      })
    await failures(20)
    const asked = receiver.requests.length
    expect(asked).toBeLessThan(24)
    travel(301)
    await failures(asked + 1)
    expect(receiver.requests).toHaveLength(asked + 1)
    receiver.answer = ok
    travel(301)
    await allDelivered()
    expect(receiver.requests).toHaveLength(asked + 1 + 300)
  })
})

describe('the log', () => {
  const lines = (what: string) => world.logged.filter(line => line.includes(`"${what}"`)).map(line => JSON.parse(line))
  const aPausedReceiver = async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(503).end())
    await enqueue(
      receiver.url,
      messages(40).map(uuid => eventOf(uuid)),
    )
    return receiver
  }
  const paused = () =>
    eventually(async () => {
      const rows = await db.sql`select failures >= 20 as paused, claimed_until < now() as free from receivers`
      expect(rows).toEqual([{ paused: true, free: true }])
    })
  const failedProbe = async (receiver: TestReceiver) => {
    const asked = receiver.requests.length
    travel(301)
    await eventually(() => expect(receiver.requests).toHaveLength(asked + 1))
    await paused()
  }

  test('has one line when a receiver is paused, also after many probes, and one line when it recovers', async () => {
    const receiver = await aPausedReceiver()
    const sender = startSender()
    await paused()
    await failedProbe(receiver)
    await sender.stop()
    startSender() // the pause is stored, so the next engine knows it
    await failedProbe(receiver)
    expect(lines('receiver.paused')).toMatchObject([
      { companyId: world.companyId, receiver: new URL(receiver.url).origin, probeAt: expect.any(String) },
    ])
    expect(lines('receiver.recovered')).toEqual([])
    receiver.answer = ok
    travel(301)
    await allDelivered()
    expect(lines('receiver.paused')).toHaveLength(1)
    expect(lines('receiver.recovered')).toMatchObject([
      { companyId: world.companyId, receiver: new URL(receiver.url).origin },
    ])
  })

  test('has a new line for every new pause', async () => {
    const receiver = await aPausedReceiver()
    const refuse = receiver.answer
    startSender()
    await paused()
    receiver.answer = ok
    travel(301)
    await allDelivered()
    receiver.answer = refuse
    await enqueue(
      receiver.url,
      messages(40).map(uuid => eventOf(uuid)),
    )
    await paused()
    expect(lines('receiver.paused')).toHaveLength(2)
    expect(lines('receiver.recovered')).toHaveLength(1)
  })
})

describe('the order of events', () => {
  test('is kept behind a refused event of the same message, and other messages are not delayed', async () => {
    const [stuck, free] = messages(2)
    const receiver = await aReceiver((request, response) => {
      const refuse = request.event.messageUuid === stuck && world.travelledMs === 0
      response.writeHead(refuse ? 500 : 200).end()
    })
    startSender()
    await enqueue(receiver.url, [eventOf(stuck!, 'sent'), eventOf(free!, 'sent')])
    await eventually(() => expect(receiver.requests).toHaveLength(2))
    await enqueue(receiver.url, [eventOf(stuck!), eventOf(free!)])
    await eventually(async () => {
      const rows = await db.sql`select done_events as done, held from callbacks order by callback_id`
      expect(rows).toEqual([
        { done: 1, held: [stuck] },
        { done: 1, held: [stuck] },
      ])
    })
    expect(receiver.requests).toHaveLength(3)
    travel(301)
    await allDelivered()
    const seen = (uuid: string) =>
      receiver.requests.filter(({ event }) => event.messageUuid === uuid).map(({ event }) => event.event)
    expect(seen(stuck!)).toEqual(['sent', 'sent', 'delivered'])
    expect(seen(free!)).toEqual(['sent', 'delivered'])
    expect(await db.sql`select from callbacks where held is not null`).toHaveLength(0)
  })

  test('is kept at a receiver that is slow and refuses at random', async () => {
    const taken = new Map<string, string[]>()
    const receiver = await aReceiver(({ event }, response, place) => {
      const isRefused = place % 7 === 3
      if (!isRefused) {
        const uuid = event.messageUuid as string
        taken.set(uuid, [...(taken.get(uuid) ?? []), event.event as string])
      }
      setTimeout(() => response.writeHead(isRefused ? 500 : 200).end(), place % 5)
    })
    startSender({ retrySeconds: 1 })
    const uuids = messages(120)
    for (let i = 0; i < 120; i += 30) {
      await enqueue(
        receiver.url,
        uuids.slice(i, i + 30).map(uuid => eventOf(uuid, 'sent')),
      )
      await enqueue(
        receiver.url,
        uuids.slice(i, i + 20).map(uuid => eventOf(uuid)),
      )
      await enqueue(
        receiver.url,
        uuids.slice(i + 20, i + 30).map(uuid => eventOf(uuid, 'failed')),
      )
    }
    await allDelivered()
    expect(taken.size).toBe(120)
    for (const events of taken.values()) expect(events).toEqual(['sent', expect.stringMatching('delivered|failed')])
  })
})

describe('expired and replayed batches:', () => {
  test('a batch expires a day after its events, and is not sent any more', async () => {
    const receiver = await aReceiver((_, response) => response.writeHead(500).end())
    await enqueue(receiver.url, [eventOf(messages(1)[0]!)])
    startSender()
    await firstAttempt()
    travel(24 * 3600 - 60)
    await eventually(async () => expect(await attempts()).toHaveLength(2))
    travel(61)
    await eventually(async () => expect(await statuses()).toEqual(['EXPIRED']))
    expect(receiver.requests).toHaveLength(2)
  })

  test('a replay sends an expired batch again as a whole', async () => {
    const receiver = await aReceiver((_, response, place) => response.writeHead(place === 0 ? 500 : 200).end())
    await enqueue(
      receiver.url,
      messages(2).map(uuid => eventOf(uuid)),
    )
    startSender()
    await firstAttempt()
    travel(24 * 3600 + 1)
    await eventually(async () => expect(await statuses()).toEqual(['EXPIRED']))
    const [callback] = await listCallbacks(db.sql, world.companyId, { limit: 1 })
    await replayCallback(db.sql, world.companyId, callback!.callbackId, clock())
    await allDelivered()
    expect(receiver.requests).toHaveLength(4)
  })

  test('a replay sends the events that are left of a waiting batch at once', async () => {
    const receiver = await aReceiver((_, response, place) => response.writeHead(place === 0 ? 500 : 200).end())
    await enqueue(
      receiver.url,
      messages(5).map(uuid => eventOf(uuid)),
    )
    startSender()
    await firstAttempt()
    const [callback] = await listCallbacks(db.sql, world.companyId, { limit: 1 })
    await replayCallback(db.sql, world.companyId, callback!.callbackId, clock())
    await allDelivered()
    expect(receiver.requests).toHaveLength(6)
  })
})

describe('several engines:', () => {
  test('two engines send each event once', async () => {
    const receivers = await Promise.all([aReceiver(), aReceiver(), aReceiver()])
    startSender()
    startSender()
    const sent = messages(1500)
    for (let i = 0; i < sent.length; i += 50) {
      await enqueue(
        receivers[(i / 50) % 3]!.url,
        sent.slice(i, i + 50).map(uuid => eventOf(uuid)),
      )
    }
    await allDelivered()
    const got = receivers.flatMap(receiver => receiver.requests.map(({ event }) => event.messageUuid))
    expect(got.toSorted()).toEqual(sent.toSorted())
  })

  test('after one is killed, only the events that it had not delivered are sent', async () => {
    const [answered, silent] = [new Set<unknown>(), hang]
    const receiver = await aReceiver((request, response, place) => {
      if (place >= 6) return silent(request, response, place)
      answered.add(request.event.messageUuid)
      response.end()
    })
    const sent = messages(20)
    await enqueue(
      receiver.url,
      sent.map(uuid => eventOf(uuid)),
    )
    const engine = startEngineProcess({ leaseSeconds: 2 })
    await eventually(async () => expect(await db.sql`select done_events as done from callbacks`).toEqual([{ done: 6 }]))
    engine.kill('SIGKILL')
    receiver.answer = ok
    startSender({ leaseSeconds: 2 })
    await allDelivered()

    const times = (uuid: unknown) => receiver.requests.filter(({ event }) => event.messageUuid === uuid).length
    for (const uuid of sent) {
      expect(times(uuid)).toBeGreaterThanOrEqual(1)
      expect(times(uuid)).toBeLessThanOrEqual(answered.has(uuid) ? 1 : 2)
    }
    expect(receiver.requests.length).toBeLessThanOrEqual(20 + 4)
  })

  test('companies that share a host send it 16 requests at once together, and a stop does not wait for queued requests', async () => {
    const receiver = await aReceiver(hang)
    for (let i = 0; i < 6; i++) {
      await enqueue(
        receiver.url,
        messages(10).map(uuid => eventOf(uuid)),
        await aCompany(db.sql, world.partner),
      )
    }
    const sender = startSender()
    await eventually(() => expect(receiver.requests).toHaveLength(16))
    await sender.stop()
    expect(await db.sql`select distinct failures, worker from receivers`).toEqual([{ failures: 0, worker: null }])
    expect(receiver.requests).toHaveLength(16)
  })

  test('an engine that is stopped ends its hanging requests, and does not count them as failures', async () => {
    const receiver = await aReceiver(hang)
    await enqueue(
      receiver.url,
      messages(10).map(uuid => eventOf(uuid)),
    )
    const sender = startSender()
    await eventually(() => expect(receiver.requests).toHaveLength(4))
    await sender.stop()
    expect(await db.sql`select attempts, failures, worker from callbacks join receivers using (company_id)`).toEqual([
      { attempts: 0, failures: 0, worker: null },
    ])
  })
})

/** An engine that can be killed. */
function startEngineProcess(settings: Partial<CallbackSettings>): ChildProcess {
  const program = `
    import { pino } from 'pino'
    import { connect } from ${JSON.stringify(new URL('../../db/sql.ts', import.meta.url).href)}
    import { CallbackSender } from ${JSON.stringify(new URL('./sender.ts', import.meta.url).href)}
    new CallbackSender({
      sql: connect(${JSON.stringify(db.url)}), clock: () => new Date(), log: pino({ level: 'error' }),
      settings: ${JSON.stringify({ ...local, ...settings })} })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
  world.cleanUpFirst(() => void child.kill('SIGKILL'))
  return child
}
