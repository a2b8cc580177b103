import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial } from 'node:net'
import { pino } from 'pino'
import smppPackage, { type PDU as PackagePdu, type Session as PackageSession } from 'smpp'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Feed, Inbound } from '../../src/channels/channel.ts'
import { decodeInbound, encodeText } from '../../src/channels/smpp/protocol/text.ts'
import { type SmscMessage, type SmscSettings, startSmsc } from '../../src/channels/smpp/smsc/smsc.ts'
import { type BindShare, shareOf } from '../../src/domain/gateways/binds/binds.ts'
import type { Gateway } from '../../src/domain/gateways/gateway.ts'
import { loadNumbering, type Numbering } from '../../src/domain/numbering/numbering.ts'
import { Binds } from '../../src/engine/gateways/binds.ts'
import { connectSmpp } from '../../src/engine/gateways/smpp.ts'
import { useDatabase } from '../../src/testing/database.ts'
import { aGateway, completed, expectBooksInOrder, expectPaid, fatesOf, useEngines } from '../../src/testing/engines.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { aDispatch, aWorld, someRecipients, start, type World } from '../../src/testing/world.ts'

const db = useDatabase()
const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})
const { anEngine, stopEngine } = useEngines(db) // engines stop before `atEnd` runs
const log = pino({ level: 'silent' })
let numbering: Numbering
let world: World

beforeAll(async () => {
  numbering = await loadNumbering(db.sql)
})

beforeEach(async () => {
  world = await aWorld(db.sql)
})

const LONG = 'Съешь же ещё этих мягких французских булок, да выпей чаю. '.repeat(3)
const LONG_PARTS = 3

/** Short times for noticing errors and trying again. */
const quick = { requestMs: 2000, enquireMs: 5000, firstBackoffMs: 20, mostBackoffMs: 200, drainMs: 500 }

const aSmppGateway = (port: number, settings: Record<string, unknown> = {}) =>
  aGateway(db.sql, {
    name: 'smpp',
    connector: 'smpp',
    settings: { host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', ...quick, ...settings },
  })

const connect = (gateway: Gateway, feed: Feed) => connectSmpp({ sql: db.sql, log, worker: randomUUID() }, gateway, feed)

const anSmppEngine = () => anEngine({ connect })

/** An engine in its own process. */
async function anSmppProcess(): Promise<ChildProcess> {
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const script = `
    import { pino } from ${JSON.stringify(import.meta.resolve('pino'))}
    import { connect } from ${module('../../src/db/sql.ts')}
    import { connectSmpp } from ${module('../../src/engine/gateways/smpp.ts')}
    import { startEngine } from ${module('../../src/engine/engine.ts')}
    const sql = connect(${JSON.stringify(db.url)}, { name: 'tidings engine' })
    const log = pino({ level: 'fatal' }, pino.destination(2))
    await startEngine({ sql, clock: () => new Date(), log, moderation: 'manual', billingZone: 'Europe/Moscow',
      callbacks: { allow: [] },
      connect: (gateway, feed) => connectSmpp({ sql, log, worker: crypto.randomUUID() }, gateway, feed) })
    process.stdout.write('up')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd.push(() => child.kill('SIGKILL'))
  await once(child.stdout!, 'data')
  return child
}

async function aStartedDispatch(messages: number, text = 'Hello') {
  const dispatchId = await aDispatch(db.sql, numbering, world, someRecipients(messages), { text })
  await start(db.sql, world, dispatchId)
  return dispatchId
}

/** A part that the operator accepted. */
type Taken = { to: string; text: string; part?: number | undefined; reference?: string | undefined }

type Behaviour = { refuse?: true; throttleRate?: number; cutEvery?: number }

type Operator = {
  port: number
  taken: Taken[]
  /** Sends an inbound message of a subscriber. */
  write(message: { from: string; to: string; text: string }): void
}

async function ourSmsc(settings: SmscSettings = {}) {
  const taken: Taken[] = []
  const smsc = await startSmsc({
    ...settings,
    onMessage(message) {
      taken.push(takenOf(message))
      settings.onMessage?.(message)
    },
  })
  atEnd.push(() => smsc.stop())
  return { smsc, taken, port: smsc.port }
}

const takenOf = ({ to, text, joined }: Pick<SmscMessage, 'to' | 'text' | 'joined'>): Taken => ({
  to,
  text,
  part: joined?.part,
  reference: joined?.reference,
})

async function ours({ refuse, throttleRate, cutEvery }: Behaviour): Promise<Operator> {
  const operator = await ourSmsc({
    ...(refuse ? { refuseRate: 1 } : {}),
    ...(throttleRate ? { throttleRate } : {}),
    ...(cutEvery ? { disconnectEvery: cutEvery } : {}),
    receiptMs: 20,
  })
  return { ...operator, write: message => operator.smsc.deliver({ systemId: 'tidings', ...message }) }
}

/** The npm package `smpp` as the operator. It is not our code, so it does not share our mistakes. */
async function thePackage(behaviour: Behaviour): Promise<Operator & { send(fields: object): Promise<number> }> {
  const { ESME_RINVDSTADR, ESME_RTHROTTLED } = smppPackage.errors
  const taken: Taken[] = []
  const server = smppPackage.createServer({}, session => {
    session.on('error', () => {})
    session.setMaxListeners(0)
    for (const command of ['bind_transceiver', 'enquire_link', 'unbind'])
      session.on(command, (pdu: PackagePdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: PackagePdu) => take(session, pdu))
  })

  function take(session: PackageSession, pdu: PackagePdu) {
    const refusal = refusalOf()
    if (refusal !== undefined) return session.send(pdu.response({ command_status: refusal }))
    taken.push(takenOf({ to: pdu.destination_addr, ...readBy(pdu) }))
    if (behaviour.cutEvery && taken.length % behaviour.cutEvery === 0) return session.destroy()
    session.send(pdu.response({ message_id: String(taken.length) }))
    report(pdu.destination_addr, String(taken.length))
  }

  function refusalOf(): number | undefined {
    if (behaviour.refuse) return ESME_RINVDSTADR
    if (behaviour.throttleRate && Math.random() < behaviour.throttleRate) return ESME_RTHROTTLED
  }

  /** Uses any open connection and repeats until the receipt is acknowledged, as operators do. */
  async function report(destination: string, id: string) {
    const short_message = `id:${id} sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:`
    if ((await send({ esm_class: 4, source_addr: destination, short_message })) !== 0)
      setTimeout(() => void report(destination, id), 50)
  }

  function send(fields: object): Promise<number> {
    const session = server.sessions.at(-1)
    if (!session) return Promise.resolve(-1)
    return new Promise(resolve => {
      session.once('close', () => resolve(-1))
      session.deliver_sm({ ...fields }, (answer: PackagePdu) => resolve(answer.command_status))
    })
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => {
    for (const session of server.sessions) session.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    send,
    write({ from, to, text }) {
      const parts = encodeText(text, 7, { longMessages: 'udh', gsmPacking: false, latin1: false })
      for (const { esmClass, dataCoding, shortMessage } of parts) {
        void send({
          source_addr: from,
          destination_addr: to,
          esm_class: esmClass,
          data_coding: dataCoding,
          short_message: shortMessage,
        })
      }
    },
  }
}

/** Converts the parsed text of the package back into the octets that our decoder reads. */
function readBy(pdu: PackagePdu) {
  const { message, udh } = pdu.short_message as { message: string | Buffer; udh?: Buffer[] }
  const text = typeof message === 'string' ? message : message.toString('latin1')
  const sar = { sarMsgRefNum: pdu.sar_msg_ref_num, sarTotalSegments: pdu.sar_total_segments }
  if (udh?.[0]) {
    const header = Buffer.from([udh[0].length, ...udh[0]])
    const { joined } = decodeInbound(
      { esmClass: 0x40, dataCoding: 3, shortMessage: header, tlvs: {} },
      { gsmPacking: false },
    )
    return { text, joined }
  }
  if (pdu.message_payload) return { text: pdu.message_payload.message as string, joined: undefined }
  const tlvs = { ...sar, sarSegmentSeqnum: pdu.sar_segment_seqnum }
  const { joined } = decodeInbound(
    { esmClass: 0, dataCoding: 3, shortMessage: Buffer.alloc(0), tlvs },
    { gsmPacking: false },
  )
  return { text, joined }
}

/** The texts as a telephone would show them, by number. */
function shown(taken: Taken[]): Record<string, string> {
  const byNumber = Object.groupBy(taken, ({ to }) => to)
  return Object.fromEntries(
    Object.entries(byNumber).map(([to, parts]) => [
      to,
      parts!
        .toSorted((a, b) => (a.part ?? 1) - (b.part ?? 1))
        .map(({ text }) => text)
        .join(''),
    ]),
  )
}

const numbersOf = (taken: Taken[]) => [...new Set(taken.map(({ to }) => to))].sort()
const numbers = (count: number) =>
  someRecipients(count)
    .map(({ destination }) => destination)
    .sort()

describe.each([
  ['our SMSC', ours],
  ['the package smpp as the server', thePackage],
])('over SMPP to %s', (_, anOperator) => {
  test('a dispatch is delivered and charged', async () => {
    const { port, taken } = await anOperator({})
    await aSmppGateway(port, { binds: 2 })
    const dispatchId = await aStartedDispatch(400)
    await anSmppEngine()
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 400, delivered: 400 })
    expect(taken.map(({ to }) => to).sort()).toEqual(numbers(400))
    await expectPaid(db.sql, world, priceEstimate)
  })

  test.each(['udh', 'sar', 'payload'])(
    'long messages arrive whole, and their receipts are understood: %s',
    async way => {
      const { port, taken } = await anOperator({})
      await aSmppGateway(port, { longMessages: way })
      const dispatchId = await aStartedDispatch(40, LONG)
      await anSmppEngine()
      const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
      expect(messages).toMatchObject({ total: 40, delivered: 40 })
      expect(shown(taken)).toEqual(Object.fromEntries(numbers(40).map(to => [to, LONG])))
      expect(taken).toHaveLength(way === 'payload' ? 40 : 40 * LONG_PARTS)
      await expectPaid(db.sql, world, priceEstimate)
    },
  )

  test('a message that the operator refuses for good fails with the error text of the operator, and is not charged', async () => {
    const { port } = await anOperator({ refuse: true })
    await aSmppGateway(port)
    const dispatchId = await aStartedDispatch(20)
    await anSmppEngine()
    await completed(db.sql, world, dispatchId)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 602': 20 })
    expect(await operatorErrors(dispatchId)).toEqual(['ESME_RINVDSTADR'])
    await expectPaid(db.sql, world, 0n)
  })

  test('a slow operator slows sending down, and no message is lost', async () => {
    const { port, taken } = await anOperator({ throttleRate: 0.08 })
    await aSmppGateway(port, { window: 20 })
    const dispatchId = await aStartedDispatch(120)
    await anSmppEngine()
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 120, delivered: 120 })
    expect(taken.map(({ to }) => to).sort()).toEqual(numbers(120))
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('messages that were open on a closed connection are sent again, and all arrive', async () => {
    const { port, taken } = await anOperator({ cutEvery: 150 })
    await aSmppGateway(port, { window: 20 })
    const dispatchId = await aStartedDispatch(400)
    await anSmppEngine()
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 400, delivered: 400 })
    expect(numbersOf(taken)).toEqual(numbers(400))
    expect(taken.length).toBeGreaterThan(400)
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('long and short inbound messages of subscribers are stored', async () => {
    const { port, write } = await anOperator({})
    await aSmppGateway(port)
    const inbound: Inbound[] = []
    await anEngine({
      connect: (gateway, feed) =>
        connect(gateway, {
          ...feed,
          async inbound(message) {
            await feed.inbound(message)
            inbound.push(message)
          },
        }),
    })
    await eventually(async () => expect(await boundBinds()).toHaveLength(1))
    await eventually(() => {
      if (inbound.length === 0) write({ from: '79161230001', to: 'Tidings', text: 'Hello' })
      expect(inbound.length).toBeGreaterThan(0)
    })
    write({ from: '79161230002', to: 'Tidings', text: LONG })
    const long = { from: '79161230002', to: 'Tidings', text: LONG }
    // Not the last one: on a busy machine several short ones were written.
    await eventually(() => expect(inbound).toContainEqual(expect.objectContaining(long)))
    expect(inbound[0]).toMatchObject({ from: '79161230001', to: 'Tidings', text: 'Hello' })
  })
})

const operatorErrors = async (dispatchId: number) =>
  (
    await db.sql<{ word: string | null }[]>`
      select distinct operator_error as word from messages where dispatch_id = ${dispatchId} order by 1`
  ).map(({ word }) => word)

const boundBinds = () => db.sql<{ bind: number; worker: string }[]>`select bind, worker from gateway_binds order by 1`

test('a message without an answer on a live connection is SENT without an id, and is not sent again', async () => {
  const { smsc, port } = await ourSmsc({ silentRate: 1 })
  await aSmppGateway(port, { requestMs: 3000, enquireMs: 1000 })
  const silent = await aStartedDispatch(20)
  await anSmppEngine()
  await eventually(async () => expect(await fatesOf(db.sql, silent)).toEqual({ SENT: 20 }))
  expect(await db.sql`select from submissions where company_id = ${world.companyId}`).toHaveLength(0)
  smsc.behave({ silentRate: 0 })
  await completed(db.sql, world, await aStartedDispatch(20, 'Hello again'))
  expect(smsc.counts.submitted).toBe(40)
  expect(await fatesOf(db.sql, silent)).toEqual({ SENT: 20 })
  await expectBooksInOrder(db.sql, world)
})

test('a message that the operator cannot deliver fails with the error text of the operator', async () => {
  const { port } = await ourSmsc({ failRate: 1, earlyReceiptRate: 0.5 })
  await aSmppGateway(port)
  const dispatchId = await aStartedDispatch(40)
  await anSmppEngine()
  await completed(db.sql, world, dispatchId)
  expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 603': 40 })
  expect(await operatorErrors(dispatchId)).toEqual(['3/27'])
  await expectPaid(db.sql, world, 0n)
})

test('receipts that come before the answer, or twice, end each message once', async () => {
  const { smsc, port } = await ourSmsc({ earlyReceiptRate: 0.4, duplicateReceiptRate: 0.4, receiptMs: 50 })
  await aSmppGateway(port)
  const dispatchId = await aStartedDispatch(300)
  await anSmppEngine()
  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ total: 300, delivered: 300 })
  expect(smsc.counts.receipts).toBeGreaterThan(300)
  await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(smsc.counts.receipts))
  await expectPaid(db.sql, world, priceEstimate)
})

test('a receipt for an unknown message is acknowledged and stored', async () => {
  const operator = await thePackage({})
  await aSmppGateway(operator.port)
  await anSmppEngine()
  const short_message =
    'id:4711 sub:001 dlvrd:000 submit date:2601011200 done date:2601011201 stat:UNDELIV err:027 text:'
  await eventually(async () =>
    expect(await operator.send({ esm_class: 4, source_addr: '79161230001', short_message })).toBe(0),
  )
  const kept = await db.sql`select status, error_code, operator_error from receipt_inbox where provider_id = '4711'`
  expect(kept[0]).toEqual({ status: 'FAILED', errorCode: 601, operatorError: '027' })
  await db.sql`delete from receipt_inbox`
})

describe('a message accepted in part', () => {
  /** An operator that accepts two parts of each number, then answers "too fast" until the test changes it. */
  async function anSmscWithRoomForTwo(settings: SmscSettings = {}) {
    const operator = await ourSmsc({
      ...settings,
      onMessage() {
        if (operator.taken.length === 2) operator.smsc.behave({ throttleRate: 1 })
      },
    })
    return operator
  }

  const parts = () => db.sql<{ part: number; parts: number; status: string }[]>`
    select part, parts, status from submissions where company_id = ${world.companyId} order by part`

  test('is finished by another engine, which sends only the rest', async () => {
    const { smsc, port, taken } = await anSmscWithRoomForTwo({ receiptMs: 10 })
    await aSmppGateway(port)
    const dispatchId = await aStartedDispatch(1, LONG)
    const first = await anSmppEngine()
    await eventually(async () =>
      expect(await parts()).toEqual([0, 1].map(part => ({ part, parts: LONG_PARTS, status: 'DELIVERED' }))),
    )
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ CREATED: 1 })
    await stopEngine(first)

    smsc.behave({ throttleRate: 0 })
    await anSmppEngine()
    const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
    expect(messages).toMatchObject({ total: 1, delivered: 1 })
    expect(taken.map(({ part }) => part).sort()).toEqual([1, 2, 3])
    expect(new Set(taken.map(({ reference }) => reference)).size).toBe(1)
    expect(shown(taken)).toEqual({ [numbers(1)[0]!]: LONG })
    await expectPaid(db.sql, world, priceEstimate)
  })

  test('fails when one of these parts fails, and the rest stays unsent', async () => {
    const { smsc, port, taken } = await anSmscWithRoomForTwo({ failRate: 1 })
    await aSmppGateway(port)
    const dispatchId = await aStartedDispatch(1, LONG)
    await anSmppEngine()
    await completed(db.sql, world, dispatchId)
    expect(await fatesOf(db.sql, dispatchId)).toEqual({ 'FAILED 603': 1 })
    expect(await operatorErrors(dispatchId)).toEqual(['3/27'])
    smsc.behave({ throttleRate: 0, failRate: 0 })
    await completed(db.sql, world, await aStartedDispatch(5))
    expect(taken).toHaveLength(2 + 5)
    await expectBooksInOrder(db.sql, world)
  })
})

test('bytes that are no PDU close the connection, and the engine connects again', async () => {
  const { smsc, port, taken } = await ourSmsc()
  const rubbish = [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from([0, 0, 0, 5, 1, 2, 3, 4, 5]),
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]),
    Buffer.from([0, 0, 0, 20, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4]), // a deliver_sm that is too short
  ]
  const proxy = createServer(socket => {
    const bytes = rubbish.shift()
    const real = dial({ port, host: '127.0.0.1' })
    for (const end of [socket, real]) end.on('error', () => {})
    if (bytes) socket.write(bytes)
    socket.pipe(real).pipe(socket)
    socket.on('close', () => real.destroy())
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => proxy.close())
  await aSmppGateway((proxy.address() as AddressInfo).port)
  const dispatchId = await aStartedDispatch(50)
  await anSmppEngine()
  const { priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(rubbish).toHaveLength(0)
  expect(numbersOf(taken)).toEqual(numbers(50))
  expect(smsc.counts.binds).toBeGreaterThan(0)
  await expectPaid(db.sql, world, priceEstimate)
})

test('two engines share the binds of a contract and never exceed it, and a killed engine loses its bind but no message', async () => {
  const { smsc, port, taken } = await ourSmsc({ partsPerSecond: 400 })
  await aSmppGateway(port, { binds: 2, window: 20 })
  const [killed] = await Promise.all([anSmppProcess(), anSmppProcess()])
  await eventually(async () => expect(new Set((await boundBinds()).map(({ worker }) => worker)).size).toBe(2))
  await eventually(() => expect(smsc.bound.get('tidings')).toEqual({ now: 2, most: 2 }))

  const dispatchId = await aStartedDispatch(1500)
  await eventually(() => expect(taken.length).toBeGreaterThan(100))
  killed.kill('SIGKILL')
  await eventually(() => expect(smsc.bound.get('tidings')!.now).toBe(1))
  await eventually(() => expect(smsc.bound.get('tidings')!.now).toBe(2))
  expect(new Set((await boundBinds()).map(({ worker }) => worker)).size).toBe(1)

  const { messages, priceEstimate } = await completed(db.sql, world, dispatchId)
  expect(messages).toMatchObject({ total: 1500, delivered: 1500 })
  expect(numbersOf(taken)).toEqual(numbers(1500))
  expect(smsc.bound.get('tidings')!.most).toBe(2)
  await expectPaid(db.sql, world, priceEstimate)
})

test('every engine computes the same shares, and all shares together are the contract', () => {
  for (const contract of [1, 2, 5, 100]) {
    for (const seekers of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      const shares = seekers.map(worker => shareOf(worker, seekers, contract))
      expect(shares.reduce((sum, share) => sum + share)).toBe(contract)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    }
  }
})

test('an engine that cannot renew its leases closes its binds before another engine may open them', async () => {
  const happened: string[] = []
  let asked = 0
  const channel = {
    async setBinds(count: number) {
      happened.push(`${count} open`)
    },
  }
  const leases = {
    share() {
      if (asked++ > 0) return new Promise<BindShare>(() => {}) // the database does not answer any more
      setTimeout(() => happened.push('free for others'), 10_000)
      return Promise.resolve({ binds: [1, 2], tooMany: [] })
    },
    async giveBack() {},
  }
  const binds = new Binds({ log, channel, leases }).start()
  await eventually(() => expect(happened).toContain('free for others'))
  expect(happened).toEqual(['2 open', '0 open', 'free for others'])
  void binds.stop()
})

test('an engine that stops renews its leases until the channel has closed its binds, and gives none back before', async () => {
  const happened: string[] = []
  const renewals = () => happened.filter(what => what === 'renewed').length
  const drained = Promise.withResolvers<void>()
  let isStopping = false
  const leases = {
    async share() {
      happened.push('renewed')
      return { binds: [1, 2], tooMany: isStopping ? [2] : [] }
    },
    async giveBack() {
      happened.push('given back')
    },
  }
  const binds = new Binds({ log, channel: { async setBinds() {} }, leases }).start()
  await eventually(() => expect(renewals()).toBe(1))
  isStopping = true
  const stopped = binds.stop(() => drained.promise)
  await eventually(() => expect(renewals()).toBeGreaterThanOrEqual(3))
  drained.resolve()
  await stopped
  expect(new Set(happened)).toEqual(new Set(['renewed']))
})

test('an engine knows from its start what an earlier engine learnt about the ids in receipts', async () => {
  const { smsc, port, taken } = await ourSmsc({ answerIds: 'hex', receiptIds: 'decimal', receiptMs: 20 })
  const { gatewayId } = await aSmppGateway(port)
  const first = await anSmppEngine()
  await completed(db.sql, world, await aStartedDispatch(20))
  const learnt = () => db.sql`select relation from gateway_receipt_ids where gateway_id = ${gatewayId}`
  await eventually(async () => expect(await learnt()).toEqual([{ relation: 'hex-decimal' }]))

  smsc.behave({ receiptMs: 20_000 })
  const late = await aStartedDispatch(40, 'Hello again')
  await eventually(async () => expect(taken).toHaveLength(60))
  await stopEngine(first)
  expect((await fatesOf(db.sql, late)).SENT).toBeGreaterThan(0) // their receipts come when another engine runs
  await anSmppEngine()
  const { messages } = await completed(db.sql, world, late)
  expect(messages).toMatchObject({ total: 40, delivered: 40 })
})
