import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import smppPackage, { type PDU as PackagePdu, type Session as PackageSession } from 'smpp'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Channel, Feed, Inbound, LateAnswer, Outgoing, Receipt, SendResult } from '../channel.ts'
import { Link } from './link.ts'
import { encode } from './protocol/codec.ts'
import { Framer } from './protocol/framer.ts'
import type { Draft, Malformed, Pdu } from './protocol/pdu.ts'
import { status } from './protocol/status.ts'
import { encodeText, type LongMessages } from './protocol/text.ts'
import { OwnIds } from './receipts/own-ids.ts'
import { backoffMs } from './session.ts'
import { readSettings } from './settings.ts'
import { Smpp, type SmppEvent } from './smpp.ts'
import { type SmscMessage, type SmscSettings, startSmsc } from './smsc/smsc.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

function aFeed(behaviour: { receipts?: () => Promise<void>; inbound?: () => Promise<void> } = {}) {
  const receipts: Receipt[] = []
  const inbound: Inbound[] = []
  const feed: Feed = {
    async receipts(batch) {
      await behaviour.receipts?.()
      receipts.push(...batch)
    },
    async inbound(message) {
      await behaviour.inbound?.()
      inbound.push(message)
    },
    async gone() {},
  }
  return { feed, receipts, inbound }
}

const quick = {
  connectMs: 2000,
  requestMs: 30_000,
  enquireMs: 5000,
  firstBackoffMs: 20,
  mostBackoffMs: 200,
  drainMs: 500,
}

function aChannel(port: number, settings: Record<string, unknown> = {}, told = aFeed()) {
  const events: SmppEvent[] = []
  const raw = { host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', ...quick, ...settings }
  const channel = new Smpp(raw, told.feed, { onEvent: event => events.push(event) })
  atEnd.push(() => channel.stop())
  const up = () => eventually(() => expect(channel.health().up).toBe(true))
  return { channel, events, up, ...told }
}

async function anSmsc(settings: SmscSettings = {}) {
  const messages: SmscMessage[] = []
  const smsc = await startSmsc({ onMessage: message => messages.push(message), ...settings })
  atEnd.push(() => smsc.stop())
  return { smsc, messages, joined: () => joinedTexts(messages) }
}

/** The texts as phones show them. */
function joinedTexts(messages: SmscMessage[]) {
  const whole = Map.groupBy(messages, ({ to, joined, id }) => `${to} ${joined?.reference ?? id}`)
  return [...whole.values()].map(parts =>
    parts
      .toSorted((a, b) => (a.joined?.part ?? 1) - (b.joined?.part ?? 1))
      .map(({ text }) => text)
      .join(''),
  )
}

let lastNumber = 0
const aMessage = (fields: Partial<Outgoing> = {}): Outgoing => ({
  companyId: 1,
  uuid: crypto.randomUUID(),
  channelType: 'SMS',
  senderName: 'Tidings',
  destination: `7916${String(++lastNumber).padStart(7, '0')}`,
  text: 'Hello',
  parts: 1,
  attempts: 0,
  ...fields,
})

const many = (count: number, fields: Partial<Outgoing> = {}) => Array.from({ length: count }, () => aMessage(fields))

async function send(channel: { submit: Smpp['submit'] }, batch: Outgoing[], mayGo = () => true) {
  const results: (SendResult | undefined)[] = batch.map(() => undefined)
  await channel.submit(
    batch,
    (index, result) => {
      expect(results[index]).toBeUndefined()
      results[index] = result
    },
    mayGo,
  )
  return results
}

const kindsOf = (results: (SendResult | undefined)[]) => results.map(result => result?.kind)
const idsOf = (results: (SendResult | undefined)[]) =>
  results.flatMap(result => (result?.kind === 'accepted' ? result.providerIds! : []))
const receiptIds = (receipts: Receipt[]) => receipts.map(({ of }) => (of as { providerId: string }).providerId)

const LONG_LATIN = `${'All work and no play makes {Jack} a dull boy. '.repeat(9)}€`
const LONG_CYRILLIC = 'Съешь же ещё этих мягких французских булок, да выпей чаю. 😀 '.repeat(5)

describe('against our SMSC', () => {
  test('messages are accepted with ids, and their receipts contain these ids', async () => {
    const { smsc, messages } = await anSmsc()
    const { channel, up, receipts } = aChannel(smsc.port, { binds: 2 })
    await up()
    const batch = many(500)
    const results = await send(channel, batch)

    expect(new Set(kindsOf(results))).toEqual(new Set(['accepted']))
    expect(messages.map(({ to }) => to).sort()).toEqual(batch.map(({ destination }) => destination).sort())
    await eventually(() => expect(receipts.length).toBe(500))
    expect(receiptIds(receipts).sort()).toEqual(idsOf(results).sort())
    expect(new Set(receipts.map(receipt => receipt.status))).toEqual(new Set(['DELIVERED']))
    await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(500))
  })

  test('addresses have their type, and the message has its validity period', async () => {
    const { smsc, messages } = await anSmsc()
    const { channel, up } = aChannel(smsc.port)
    await up()
    await send(channel, [aMessage(), aMessage({ senderName: '4321' }), aMessage({ senderName: '+79161234567' })])
    const kinds = messages.map(({ pdu, from }) => [pdu.sourceAddrTon, pdu.sourceAddrNpi, from])
    expect(kinds).toEqual([
      [5, 0, 'Tidings'],
      [3, 0, '4321'],
      [1, 1, '79161234567'],
    ])
    expect(messages[0]!.pdu).toMatchObject({
      destAddrTon: 1,
      destAddrNpi: 1,
      registeredDelivery: 1,
      validityPeriod: '000001010000000R',
    })
  })

  test('types of addresses and the service type are sent as the settings say', async () => {
    const { smsc, messages } = await anSmsc()
    const kinds = { sourceTon: 2, sourceNpi: 8, destTon: 4, destNpi: 9, serviceType: 'VMN' }
    const { channel, up } = aChannel(smsc.port, kinds)
    await up()
    await send(channel, [aMessage()])
    expect(messages[0]!.pdu).toMatchObject({
      sourceAddrTon: 2,
      sourceAddrNpi: 8,
      destAddrTon: 4,
      destAddrNpi: 9,
      serviceType: 'VMN',
    })
  })

  for (const longMessages of ['udh', 'sar', 'payload'] satisfies LongMessages[]) {
    test(`long messages arrive whole: ${longMessages}`, async () => {
      const { smsc, joined } = await anSmsc()
      const { channel, up, receipts } = aChannel(smsc.port, { longMessages, binds: 2 })
      await up()
      const results = await send(channel, [aMessage({ text: LONG_LATIN }), aMessage({ text: LONG_CYRILLIC })])
      expect(kindsOf(results)).toEqual(['accepted', 'accepted'])
      expect(joined().sort()).toEqual([LONG_LATIN, LONG_CYRILLIC].sort())
      await eventually(() => expect(receiptIds(receipts).sort()).toEqual(idsOf(results).sort()))
      expect(idsOf(results).length).toBe(longMessages === 'payload' ? 2 : 8)
    })
  }

  test('transmitter and receiver as two connections work the same', async () => {
    const { smsc } = await anSmsc()
    const { channel, up, receipts } = aChannel(smsc.port, { mode: 'pair', binds: 2 })
    await up()
    await eventually(() => expect(smsc.counts.binds).toBe(4))
    expect(channel.binds().map(({ mode }) => mode)).toEqual(['transmitter', 'receiver', 'transmitter', 'receiver'])
    const results = await send(channel, many(50))
    await eventually(() => expect(receiptIds(receipts).sort()).toEqual(idsOf(results).sort()))
  })

  test.each<[string, SmscSettings]>([
    ['in text alone', { receiptStyle: 'text' }],
    ['in optional parameters alone', { receiptStyle: 'tlv' }],
    ['hexadecimal answers, decimal receipts', { answerIds: 'HEX', receiptIds: 'decimal' }],
    ['decimal answers, hexadecimal receipts', { answerIds: 'decimal', receiptIds: 'hex' }],
    ['zeros in front', { answerIds: 'decimal', receiptIds: 'padded' }],
    ['another case', { answerIds: 'hex', receiptIds: 'HEX' }],
    ['before the answer', { earlyReceiptRate: 1 }],
    ['before the answer, in another number system', { earlyReceiptRate: 1, answerIds: 'hex', receiptIds: 'decimal' }],
    ['later', { receiptMs: 100 }],
  ])('receipts are matched to their messages: %s', async (_, settings) => {
    const { smsc } = await anSmsc(settings)
    const { channel, up, receipts } = aChannel(smsc.port)
    await up()
    const results = await send(channel, many(30))
    await eventually(() => expect(receiptIds(receipts).sort()).toEqual(idsOf(results).sort()))
  })

  test('a repeated receipt is passed on twice, a missing receipt never', async () => {
    const { smsc } = await anSmsc({ duplicateReceiptRate: 1 })
    const { channel, up, receipts } = aChannel(smsc.port)
    await up()
    await send(channel, many(10))
    await eventually(() => expect(receipts.length).toBe(20))
    smsc.behave({ missingReceiptRate: 1 })
    expect(kindsOf(await send(channel, many(10)))).not.toContain('unknown')
    expect(smsc.counts.receipts).toBe(20)
  })

  test('a failure keeps the operator’s error beside our code', async () => {
    const { smsc } = await anSmsc({ failRate: 1 })
    const { channel, up, receipts } = aChannel(smsc.port)
    await up()
    await send(channel, [aMessage()])
    await eventually(() => expect(receipts.length).toBe(1))
    expect(receipts[0]).toMatchObject({ status: 'FAILED', errorCode: 603, operatorError: '3/27' })
  })

  test('a refused message has a reason', async () => {
    const { smsc } = await anSmsc({ refuseRate: 1 })
    const { channel, up } = aChannel(smsc.port)
    await up()
    expect(await send(channel, [aMessage()])).toEqual([
      { kind: 'refused', errorCode: 602, reason: 'ESME_RINVDSTADR (0x0b)', operatorError: 'ESME_RINVDSTADR' },
    ])
    smsc.behave({ refuseStatus: 0x423 })
    expect(await send(channel, [aMessage()])).toEqual([
      { kind: 'refused', errorCode: 608, reason: '0x423', operatorError: '0x423' },
    ])
  })

  test('a message that cannot be encoded in SMPP is refused, and other messages are sent', async () => {
    const { smsc } = await anSmsc()
    const { channel, up } = aChannel(smsc.port)
    await up()
    const results = await send(channel, [
      aMessage({ senderName: 'Вести' }),
      aMessage({ text: 'x'.repeat(50_000) }),
      aMessage(),
    ])
    expect(kindsOf(results)).toEqual(['refused', 'refused', 'accepted'])
  })

  test('a message that may no longer go is not submitted', async () => {
    const { smsc } = await anSmsc()
    const { channel, up } = aChannel(smsc.port)
    await up()
    expect(await send(channel, many(3), () => false)).toEqual([undefined, undefined, undefined])
    expect(smsc.counts.submitted).toBe(0)
  })

  test('never more submissions than the window are without an answer', async () => {
    let open = 0
    let most = 0
    const { smsc } = await anSmsc({
      answerMs: 20,
      onMessage() {
        most = Math.max(most, ++open)
        setTimeout(() => open--, 15)
      },
    })
    const { channel, up } = aChannel(smsc.port, { window: 5, binds: 2 })
    await up()
    await eventually(() => expect(smsc.counts.binds).toBe(2))
    await send(channel, [...many(30), aMessage({ text: LONG_LATIN })])
    expect(most).toBeLessThanOrEqual(10)
    expect(channel.window).toBe(10)
  })

  test('a code goes before the waiting messages of all other batches', async () => {
    const { smsc, messages } = await anSmsc({ answerMs: 20 })
    const { channel, up } = aChannel(smsc.port, { window: 1 })
    await up()
    const others = Array.from({ length: 30 }, () => send(channel, many(1)))
    const code = aMessage({ isCode: true })
    await send(channel, [code])
    expect(messages.findIndex(({ to }) => to === code.destination)).toBeLessThan(5)
    await Promise.all(others)
  })

  test('a code that is waiting for this thread goes before the rest of a batch, within the window', async () => {
    let open = 0
    let most = 0
    const { smsc, messages } = await anSmsc({ answerMs: 20 })
    smsc.behave({
      onMessage(message) {
        messages.push(message)
        most = Math.max(most, ++open)
        setTimeout(() => open--, 15)
      },
    })
    const code = aMessage({ isCode: true })
    const started: number[] = []
    let isWaiting = true
    let sendingCode: Promise<unknown> | undefined
    const told = aFeed()
    const submitCodes = () => {
      if (!isWaiting || started.length !== 3) return
      isWaiting = false
      sendingCode = send(smpp.channel, [code])
    }
    const smpp = aChannel(smsc.port, { window: 5 }, { ...told, feed: { ...told.feed, submitCodes } })
    await smpp.up()
    await send(smpp.channel, many(20), () => {
      started.push(started.length)
      return true
    })
    await sendingCode
    expect(messages.findIndex(({ to }) => to === code.destination)).toBe(3)
    expect(messages).toHaveLength(21)
    expect(most).toBeLessThanOrEqual(5)
  })

  test('a code that is waiting for this thread is written between two received messages', async () => {
    const { smsc, messages } = await anSmsc()
    const code = aMessage({ isCode: true })
    const written: boolean[] = []
    let sendingCode: Promise<unknown> | undefined
    let hasCode = false
    let isSubmitting = false
    const told = aFeed()
    const submitCodes = () => {
      if (!hasCode || isSubmitting) return
      written.push(writing.mock.calls.some(([bytes]) => Buffer.from(bytes).includes(code.destination)))
      isSubmitting = true // submitting asks for waiting codes, too
      sendingCode ??= send(smpp.channel, [code])
      isSubmitting = false
    }
    const smpp = aChannel(smsc.port, {}, { ...told, feed: { ...told.feed, submitCodes } })
    await smpp.up()
    const writing = vi.spyOn(Socket.prototype, 'write')
    atEnd.push(() => writing.mockRestore())
    hasCode = true
    // Both arrive in one piece, so without a flush the code would be written after the second.
    for (const from of ['79160000001', '79160000002'])
      smsc.deliver({ systemId: 'tidings', from, to: '4321', text: 'Hello' })
    await eventually(() => expect(messages.map(({ to }) => to)).toContain(code.destination))
    await sendingCode
    expect(written.slice(0, 2)).toEqual([false, true])
  })

  test('batches take turns: a single message does not wait behind a large batch', async () => {
    const { smsc, messages } = await anSmsc({ answerMs: 5 })
    const { channel, up } = aChannel(smsc.port, { window: 2 })
    await up()
    const bulk = send(channel, many(100))
    const code = aMessage({ text: 'code' })
    await send(channel, [code])
    expect(messages.findIndex(({ text }) => text === 'code')).toBeLessThan(20)
    await bulk
  })

  test('throttling slows the bind down; throttled messages are "busy", and are accepted later', async () => {
    const { smsc } = await anSmsc({ partsPerSecond: 100 })
    const { channel, up, events } = aChannel(smsc.port, { window: 50 })
    await up()
    let left = many(150)
    const busy: SendResult[] = []
    const until = performance.now() + 120_000
    while (left.length > 0 && performance.now() < until) {
      const results = await send(channel, left)
      busy.push(...results.filter(result => result?.kind === 'busy').map(result => result!))
      left = left.filter((_, index) => results[index]?.kind === 'busy')
    }
    expect(left).toEqual([])
    expect(smsc.counts.accepted).toBe(150)
    expect(busy.length).toBeGreaterThan(0)
    expect(busy[0]).toMatchObject({ reason: 'ESME_RTHROTTLED (0x58)' })
    expect(events.some(({ kind }) => kind === 'throttled')).toBe(true)
    // Each pause costs the window's messages at most, not the whole batch.
    expect(smsc.counts.throttled).toBeLessThan(150)
  })

  test('a full queue of the operator halves the window, and appears in the events', async () => {
    const { smsc } = await anSmsc({ queueFullRate: 1 })
    const { channel, up } = aChannel(smsc.port, { window: 40 })
    await up()
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'busy', reason: 'ESME_RMSGQFUL (0x14)' }])
    expect(channel.binds()).toMatchObject([{ window: 20 }])
    expect(channel.health()).toMatchObject({ up: true, lastError: 'throttled: window 20, pause 250 ms' })
  })

  test('of a partly accepted message only the other parts are submitted again, by any process', async () => {
    const { smsc, joined, messages } = await anSmsc({ partsPerSecond: 2 })
    const [first, second] = [aChannel(smsc.port), aChannel(smsc.port)]
    await Promise.all([first.up(), second.up()])
    const message = aMessage({ text: LONG_CYRILLIC.slice(0, 200) })

    const [half] = await send(first.channel, [message])
    expect(half).toMatchObject({ kind: 'busy', taken: { 0: expect.any(String), 1: expect.any(String) } })
    expect(messages.length).toBe(2)
    const { taken } = half as Extract<SendResult, { kind: 'busy' }>

    let result: SendResult | undefined
    await eventually(async () => {
      result = (await send(second.channel, [{ ...message, taken: taken! }]))[0]
      expect(result?.kind).toBe('accepted')
    })
    expect(joined()).toEqual([message.text])
    expect(messages.length).toBe(3)
    expect(idsOf([result]).slice(0, 2)).toEqual(Object.values(taken!))
    await eventually(() =>
      expect([...receiptIds(first.receipts), ...receiptIds(second.receipts)].sort()).toEqual(idsOf([result]).sort()),
    )
  })

  test('a part without an answer is not submitted again with the others', async () => {
    const { smsc, messages } = await anSmsc()
    const { channel, up } = aChannel(smsc.port)
    await up()
    const message = aMessage({ text: LONG_CYRILLIC.slice(0, 200), taken: { 0: '', 2: '77' } })
    const taken = { 0: '', 1: expect.stringMatching(/./), 2: '77' } // the receipts of two are still to come
    expect(await send(channel, [message])).toEqual([{ kind: 'unknown', reason: 'a part had no answer before', taken }])
    expect(messages.map(({ joined }) => joined?.part)).toEqual([2])
  })

  test('a message whose parts were all accepted before is accepted without a submission', async () => {
    const { smsc } = await anSmsc()
    const { channel, up } = aChannel(smsc.port)
    await up()
    const message = aMessage({ text: LONG_CYRILLIC.slice(0, 200), taken: { 0: '75', 1: '76', 2: '77' } })
    expect(await send(channel, [message])).toEqual([{ kind: 'accepted', providerIds: ['75', '76', '77'] }])
    expect(smsc.counts.submitted).toBe(0)
  })

  test('a partly accepted message is submitted whole after long messages became single payloads', async () => {
    const { smsc, messages } = await anSmsc()
    const { channel, up } = aChannel(smsc.port, { longMessages: 'payload' })
    await up()
    const message = aMessage({ text: LONG_CYRILLIC.slice(0, 200), parts: 3, taken: { 0: '75' } })
    const results = await send(channel, [message])
    expect(messages.map(({ text }) => text)).toEqual([message.text])
    expect(idsOf(results)).toEqual([expect.not.stringMatching(/^75$/)])
  })

  test('the number of binds can change while messages are submitted', async () => {
    const { smsc } = await anSmsc({ answerMs: 5 })
    const { channel, up } = aChannel(smsc.port, { window: 5 })
    await up()
    const sent = send(channel, many(400))
    await channel.setBinds(3)
    await eventually(() => expect(channel.health().binds).toEqual({ bound: 3, wanted: 3 }))
    expect(channel.window).toBe(15)
    await channel.setBinds(1)
    expect(smsc.bound.get('tidings')).toEqual({ now: 1, most: 3 })
    expect(new Set(kindsOf(await sent))).toEqual(new Set(['accepted']))
    expect(smsc.counts).toMatchObject({ accepted: 400, unbinds: 2 })

    await channel.setBinds(0)
    expect(channel.health()).toMatchObject({ up: false, binds: { bound: 0, wanted: 0 } })
    expect(await send(channel, many(2))).toMatchObject([{ kind: 'busy' }, { kind: 'busy' }])
  })

  test('the validity period ends with the message, or follows the settings of the gateway', async () => {
    const { smsc, messages } = await anSmsc()
    const { channel, up } = aChannel(smsc.port, { validitySeconds: 3600 })
    await up()
    const expiresAt = new Date(Date.now() + 10 * 60_000)
    await send(channel, [aMessage(), aMessage({ expiresAt }), aMessage({ expiresAt: new Date(0) })])
    expect(messages.map(({ pdu }) => pdu.validityPeriod)).toEqual([
      '000000010000000R',
      expect.stringMatching(/^00000000(1000|0959|0958)000R$/),
      '000000000001000R',
    ])
    const absolute = aChannel(smsc.port, { validityForm: 'absolute' })
    await absolute.up()
    const end = new Date(Math.ceil(Date.now() / 1000) * 1000 + 10 * 60_000)
    await send(absolute.channel, [aMessage({ expiresAt: end })])
    const [date, time] = end.toISOString().split(/[T.]/)
    expect(messages.at(-1)!.pdu.validityPeriod).toBe(`${date!.slice(2)}${time}000+`.replaceAll(/[-:]/g, ''))
  })

  test('no answer on a live connection is "unknown"', async () => {
    const { smsc } = await anSmsc({ silentRate: 1 })
    const { channel, up } = aChannel(smsc.port, { requestMs: 200, enquireMs: 50 })
    await up()
    expect(await send(channel, [aMessage()])).toEqual([
      { kind: 'unknown', reason: 'no answer to submit_sm within 200 ms' },
    ])
    expect(smsc.counts.connections).toBe(1)
  })

  test('a connection that breaks loses the open messages, and is opened again', async () => {
    const { smsc, messages } = await anSmsc({ disconnectEvery: 40 })
    const { channel, up, receipts } = aChannel(smsc.port, { window: 20 })
    await up()
    let left = many(200)
    const sent = new Set(left.map(({ destination }) => destination))
    let lost = 0
    while (left.length > 0) {
      const results = await send(channel, left)
      lost += results.filter(result => result?.kind === 'lost').length
      left = left.filter((_, index) => results[index]?.kind !== 'accepted')
    }
    expect(lost).toBeGreaterThan(0)
    expect(new Set(messages.map(({ to }) => to))).toEqual(sent)
    expect(messages.length - sent.size).toBeLessThanOrEqual(lost)
    await eventually(() => expect(receipts.length).toBeGreaterThanOrEqual(messages.length))
  })

  test('without "resendLost" open messages count as sent when the connection breaks', async () => {
    const { smsc } = await anSmsc({ disconnectRate: 1 })
    const { channel, up } = aChannel(smsc.port, { resendLost: false })
    await up()
    expect(await send(channel, [aMessage()])).toEqual([{ kind: 'unknown', reason: 'closed by the other side' }])
  })

  test('a receipt is acknowledged when it is stored, and comes again if it was not', async () => {
    let fail = true
    let open: () => void = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    const told = aFeed({
      async receipts() {
        await gate
        if (fail) throw new Error('the database is away')
      },
    })
    const { smsc } = await anSmsc()
    const { channel, up } = aChannel(smsc.port, {}, told)
    await up()
    await send(channel, many(3))
    expect(smsc.counts.receiptsAcknowledged).toBe(0)
    open()
    await eventually(() => expect(smsc.counts.receiptsAgain).toBeGreaterThanOrEqual(3))
    expect(smsc.counts.receiptsAcknowledged).toBe(0)
    fail = false
    await eventually(() => expect(told.receipts.length).toBe(3))
    await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(3))
  })

  test('receipts that the feed refuses come again, and the others are acknowledged', async () => {
    const stored: Receipt[] = []
    let mayRefuse = true
    const feed: Feed = {
      ...aFeed().feed,
      async receipts(batch, refuse) {
        const isRefused = (receipt: Receipt) => mayRefuse && receiptIds([receipt])[0] === refusedId
        stored.push(...batch.filter(receipt => !isRefused(receipt)))
        for (const [index, receipt] of batch.entries()) if (isRefused(receipt)) refuse?.(index)
      },
    }
    let refusedId: string | undefined
    const { smsc } = await anSmsc({ receiptMs: 300 })
    const { channel, up } = aChannel(smsc.port, {}, { ...aFeed(), feed })
    await up()
    const ids = idsOf(await send(channel, many(3)))
    refusedId = ids[1]
    await eventually(() => expect(smsc.counts.receiptsAgain).toBeGreaterThanOrEqual(2))
    expect(smsc.counts.receiptsAcknowledged).toBe(2)
    mayRefuse = false
    await eventually(() => expect(smsc.counts.receiptsAcknowledged).toBe(3))
    expect(receiptIds(stored).toSorted()).toEqual(ids.toSorted())
  })

  test('messages of subscribers arrive, and long ones are joined', async () => {
    const { smsc } = await anSmsc()
    const { up, inbound } = aChannel(smsc.port, { binds: 2 })
    await up()
    smsc.deliver({ systemId: 'tidings', from: '79160000001', to: '4321', text: 'STOP' })
    smsc.deliver({ systemId: 'tidings', from: '79160000002', to: '4321', text: LONG_CYRILLIC })
    smsc.deliver({ systemId: 'tidings', from: '79160000003', to: '4321', text: LONG_LATIN, longMessages: 'sar' })
    smsc.deliver({ systemId: 'tidings', from: '79160000004', to: '4321', text: LONG_LATIN, longMessages: 'payload' })
    await eventually(() => expect(inbound.length).toBe(4))
    const texts = new Map(inbound.map(({ from, text }) => [from, text]))
    expect(texts.get('79160000001')).toBe('STOP')
    expect(texts.get('79160000002')).toBe(LONG_CYRILLIC)
    expect(texts.get('79160000003')).toBe(LONG_LATIN)
    expect(texts.get('79160000004')).toBe(LONG_LATIN)
    await eventually(() => expect(smsc.counts.inboundAcknowledged).toBe(1 + 5 + 3 + 1))
  })

  test('a long message arrives also if each part waits for the answer to the last, in any order', async () => {
    let next = 0
    const parts = encodeText(LONG_LATIN, 9, { longMessages: 'udh', gsmPacking: false, latin1: false }).reverse()
    const { port, heard } = await aPeer((pdu, say) => {
      accept(pdu, say)
      if (pdu.command === 'submit_sm' || pdu.command === 'deliver_sm_resp')
        if (next < parts.length) say({ command: 'deliver_sm', sequence: next + 1, sourceAddr: '7', ...parts[next++]! })
    })
    const { channel, up, inbound } = aChannel(port)
    await up()
    await send(channel, [aMessage()])
    await eventually(() => expect(inbound.map(({ text }) => text)).toEqual([LONG_LATIN]))
    await eventually(() => expect(heard.filter(({ command }) => command === 'deliver_sm_resp').length).toBe(3))
  })

  test('a wrong password is reported, and tried seldom', async () => {
    const { smsc } = await anSmsc({ accounts: { tidings: 'another' } })
    const { channel, events } = aChannel(smsc.port, { mostBackoffMs: 5000 })
    await eventually(() => expect(channel.health().lastError).toBe('bind refused: ESME_RINVPASWD (0x0e)'))
    expect(channel.health().up).toBe(false)
    expect(JSON.stringify([channel.binds(), channel.health(), events])).not.toContain('secret')
    expect(smsc.counts.bindsRefused).toBe(1)
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'busy' }])
  })

  test('a stop waits for open messages, unbinds, and does not submit the others', async () => {
    const { smsc } = await anSmsc({ answerMs: 100 })
    const { channel, up } = aChannel(smsc.port, { window: 10, binds: 2 })
    await up()
    await eventually(() => expect(smsc.counts.binds).toBe(2))
    const sending = send(channel, many(100))
    await eventually(() => expect(smsc.counts.accepted).toBe(20))
    await channel.stop()
    const results = await sending
    expect(results.filter(result => result?.kind === 'accepted').length).toBe(20)
    expect(results.filter(result => result === undefined).length).toBe(80)
    expect(smsc.counts.unbinds).toBe(2)
    expect(await send(channel, many(2))).toEqual([undefined, undefined])
  })

  test('the channel connects when the SMSC starts later', async () => {
    const { smsc } = await anSmsc()
    const { port } = smsc
    await smsc.stop()
    const { channel } = aChannel(port)
    await eventually(() => expect(channel.health().lastError).toContain('ECONNREFUSED'))
    await anSmsc({ port })
    await eventually(() =>
      expect(channel.health()).toMatchObject({ up: true, open: 0, binds: { bound: 1, wanted: 1 } }),
    )
  })

  test('the last error stays with its time after a recovery, and after its bind is closed', async () => {
    const { smsc } = await anSmsc({ disconnectRate: 1 })
    const { channel, up } = aChannel(smsc.port)
    await up()
    expect(channel.health()).not.toHaveProperty('lastError')
    const before = Date.now()
    await send(channel, [aMessage()])
    await up()
    await channel.setBinds(0)
    const { lastError, lastErrorAt } = channel.health()
    expect(lastError).toBe('closed by the other side')
    expect(lastErrorAt!.getTime()).toBeGreaterThanOrEqual(before)
    await channel.stop()
    expect(channel.health()).toMatchObject({ lastError, lastErrorAt })
  })
})

/** A peer that behaves exactly as a test needs. */
async function aPeer(
  onPdu: (pdu: Pdu | Malformed, say: (...drafts: (Draft | Buffer)[]) => void, socket: Socket) => void,
  { bindAfterMs = 0 } = {},
) {
  const heard: (Pdu | Malformed)[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    const say = (...drafts: (Draft | Buffer)[]) =>
      void socket.write(Buffer.concat(drafts.map(draft => (Buffer.isBuffer(draft) ? draft : encode(draft)))))
    const hear = (pdu: Pdu | Malformed) => {
      heard.push(pdu)
      const bind = () => say({ command: 'bind_transceiver_resp', sequence: pdu.sequence })
      if (pdu.command !== 'bind_transceiver') onPdu(pdu, say, socket)
      else if (bindAfterMs === 0) bind()
      else setTimeout(bind, bindAfterMs)
    }
    const framer = new Framer({ onPdu: hear, onMalformed: hear, onBroken() {} })
    socket.on('data', chunk => framer.push(chunk))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, heard, sockets }
}

const accept = (pdu: Pdu | Malformed, say: (draft: Draft) => void) => {
  if (pdu.command === 'submit_sm') say({ command: 'submit_sm_resp', sequence: pdu.sequence, messageId: '1' })
  if (pdu.command === 'enquire_link') say({ command: 'enquire_link_resp', sequence: pdu.sequence })
  if (pdu.command === 'unbind') say({ command: 'unbind_resp', sequence: pdu.sequence })
}

describe('against a peer that misbehaves', () => {
  test('a silent peer is disconnected, and open messages are "lost"', async () => {
    const { port, heard } = await aPeer(() => {})
    const { channel, up, events } = aChannel(port, { requestMs: 100, enquireMs: 10_000 })
    await up()
    const results = await send(channel, [aMessage()])
    expect(results).toMatchObject([{ kind: 'lost', reason: 'no answer to enquire_link within 100 ms' }])
    expect(heard.some(({ command }) => command === 'enquire_link')).toBe(true)
    expect(events.some(({ kind }) => kind === 'closed')).toBe(true)
    await up()
  })

  test('a peer that becomes silent under traffic loses all open messages, and gets no more', async () => {
    let submitted = 0
    const { port, sockets } = await aPeer((pdu, say) => {
      if (sockets.size > 1) return accept(pdu, say)
      if (pdu.command === 'submit_sm') submitted++
      if (submitted <= 15) accept(pdu, say)
    })
    const { channel, up } = aChannel(port, { window: 10, requestMs: 300, enquireMs: 60_000 })
    await up()
    const kinds = kindsOf(await send(channel, many(30)))
    expect(submitted).toBe(25)
    expect(kinds.filter(kind => kind === 'lost').length).toBe(10)
    expect(kinds).not.toContain('unknown')
  })

  test('a living peer that does not answer in time makes messages "unknown", and gets more after it has sent something', async () => {
    let live: (() => void) | undefined
    let isFirst = true
    const { port, sockets } = await aPeer((pdu, say) => {
      if (pdu.command === 'enquire_link') live = () => accept(pdu, say)
      else if (pdu.command !== 'submit_sm' || !isFirst) accept(pdu, say)
      else isFirst = false
    })
    const { channel, up } = aChannel(port, { window: 10, requestMs: 1500, enquireMs: 60_000 })
    await up()
    const silent = send(channel, [aMessage()])
    await eventually(() => expect(live).toBeDefined())
    const next = send(channel, [aMessage()])
    expect(channel.health().open).toBe(2) // the first message, and the question
    live!()
    expect(await silent).toEqual([{ kind: 'unknown', reason: 'no answer to submit_sm within 1500 ms' }])
    expect(kindsOf(await next)).toEqual(['accepted'])
    expect(sockets.size).toBe(1)
  })

  test('a bind in doubt is not up, and messages that are reported as busy meanwhile were not submitted', async () => {
    let live: (() => void) | undefined
    const { port } = await aPeer((pdu, say) => {
      if (pdu.command === 'enquire_link') live = () => accept(pdu, say)
      else if (pdu.command !== 'submit_sm') accept(pdu, say)
    })
    const { channel, up } = aChannel(port, { requestMs: 3000, enquireMs: 60_000 })
    await up()
    const silent = send(channel, [aMessage()])
    await eventually(() => expect(live).toBeDefined())
    expect(channel.health()).toMatchObject({ up: false, binds: { bound: 1, wanted: 1 } })
    const mayGo = vi.fn(() => true)
    expect(kindsOf(await send(channel, many(3), mayGo))).toEqual(['busy', 'busy', 'busy'])
    expect(mayGo).not.toHaveBeenCalled()
    live!()
    await up()
    expect(kindsOf(await silent)).toEqual(['unknown'])
  })

  test('without "resendLost" open parts count as sent, and accepted parts keep their ids', async () => {
    const { port } = await aPeer((pdu, say, socket) => {
      if (pdu.command !== 'submit_sm') return accept(pdu, say)
      const part = pdu.shortMessage.at(5)!
      if (part === 1) say({ command: 'submit_sm_resp', sequence: pdu.sequence, messageId: '41' })
      if (part === 3) socket.end()
    })
    const { channel, up } = aChannel(port, { resendLost: 'false' })
    await up()
    const [result] = await send(channel, [aMessage({ text: LONG_CYRILLIC.slice(0, 200), parts: 3 })])
    expect(result).toMatchObject({ kind: 'unknown', taken: { 0: '41', 1: '', 2: '' } })
  })

  test('a peer that accepts connections and never binds is disconnected too', async () => {
    const server = createServer(() => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    atEnd.push(() => server.close())
    const patience = { connectMs: 100, requestMs: 60_000 }
    const { channel } = aChannel((server.address() as { port: number }).port, patience)
    await eventually(() => expect(channel.health().lastError).toBe('no answer to bind_transceiver within 100 ms'))
  })

  test('a slow bind may take longer than the time for an answer', async () => {
    const { port, sockets } = await aPeer(accept, { bindAfterMs: 300 })
    const { up } = aChannel(port, { connectMs: 60_000, requestMs: 50 })
    await up()
    expect(sockets.size).toBe(1)
  })

  test('the bind carries the system type', async () => {
    const { port, heard } = await aPeer(accept)
    const { up } = aChannel(port, { systemType: 'CMT' })
    await up()
    expect(heard[0]).toMatchObject({ command: 'bind_transceiver', systemType: 'CMT' })
  })

  test('when too many deliveries wait for the database, reading stops, and the clock stops too', async () => {
    const DELIVERIES = 10_000
    let open: () => void = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    let waiting = 0
    const told = aFeed({
      inbound() {
        waiting++
        return gate
      },
    })
    const flood = Array.from({ length: DELIVERIES }, (_, i) =>
      encode({ command: 'deliver_sm', sequence: i + 1, sourceAddr: '79160000001', shortMessage: Buffer.from('hi') }),
    )
    const { port, heard } = await aPeer((pdu, say) => {
      if (pdu.command === 'submit_sm') say(...flood)
      accept(pdu, say)
    })
    const mute = await aPeer(() => {})
    const { channel, up, events, inbound } = aChannel(port, { requestMs: 2000, enquireMs: 60_000 }, told)
    await up()
    const sent = send(channel, [aMessage()])
    await eventually(() => expect(waiting).toBeGreaterThanOrEqual(5000))

    const other = aChannel(mute.port, { requestMs: 2000, enquireMs: 50 }) // its time runs, and runs out
    await eventually(() => expect(other.events.map(({ kind }) => kind)).toContain('closed'))
    expect(waiting).toBeLessThan(8000) // PDUs of one read are all handled
    expect(events.map(({ kind }) => kind)).toEqual(['bound'])
    expect(heard.map(({ command }) => command)).toEqual(['bind_transceiver', 'submit_sm'])

    open()
    expect(kindsOf(await sent)).toEqual(['accepted'])
    await eventually(() => expect(inbound.length).toBe(DELIVERIES))
  })

  test('an idle connection gets enquire_link', async () => {
    const { port, heard } = await aPeer(accept)
    const { up } = aChannel(port, { enquireMs: 50 })
    await up()
    await eventually(() => expect(heard.filter(({ command }) => command === 'enquire_link').length).toBeGreaterThan(2))
  })

  test('an unknown command and a truncated request are answered with generic_nack, and the connection stays', async () => {
    const unknown = encode({ command: 'enquire_link', sequence: 41 })
    unknown.writeUInt32BE(0x4242, 4)
    const short = Buffer.from(encode({ command: 'deliver_sm', sequence: 42 }).subarray(0, 20))
    short.writeUInt32BE(20, 0)
    const { port, heard } = await aPeer((pdu, say) => {
      if (pdu.command === 'submit_sm') say(unknown, short, { command: 'query_sm', sequence: 43 })
      accept(pdu, say)
    })
    const { channel, up, events } = aChannel(port)
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['accepted'])
    await eventually(() => {
      const nacks = heard.filter(({ command }) => command === 'generic_nack')
      expect(nacks.map(({ sequence, status: code }) => [sequence, code])).toEqual([
        [41, status.ESME_RINVCMDID],
        [42, status.ESME_RINVCMDLEN],
        [43, status.ESME_RINVCMDID],
      ])
    })
    expect(events.filter(({ kind }) => kind === 'malformed').length).toBe(2)
    expect(events.some(({ kind }) => kind === 'closed')).toBe(false)
    expect(channel.health()).toMatchObject({ up: true, lastError: expect.stringMatching(/^malformed: /) })
  })

  test('an answer that cannot be read is "unknown"', async () => {
    const { port } = await aPeer((pdu, say) => {
      if (pdu.command !== 'submit_sm') return accept(pdu, say)
      const answer = encode({ command: 'submit_sm_resp', sequence: pdu.sequence, messageId: '12345' })
      const unended = Buffer.from(answer.subarray(0, -1))
      unended.writeUInt32BE(unended.length, 0)
      say(unended)
    })
    const { channel, up } = aChannel(port)
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['unknown'])
    expect(channel.health().up).toBe(true)
  })

  test('the ids of accepted parts are reported, even if another part has no answer', async () => {
    const { port } = await aPeer((pdu, say) => {
      if (pdu.command !== 'submit_sm') return accept(pdu, say)
      const part = pdu.shortMessage.at(5)!
      if (part !== 2) say({ command: 'submit_sm_resp', sequence: pdu.sequence, messageId: `4${part}` })
    })
    const { channel, up } = aChannel(port, { requestMs: 200, enquireMs: 50 })
    await up()
    const [result] = await send(channel, [aMessage({ text: LONG_CYRILLIC.slice(0, 200) })])
    expect(result).toMatchObject({ kind: 'unknown', taken: { 0: '41', 1: '', 2: '43' } })
  })

  test('control characters are removed from an id; a very long id, or an id of control characters alone, is ignored', async () => {
    const given = ['12\u00013', '7'.repeat(60_000), '\u0001\u0002']
    const { port } = await aPeer((pdu, say) => {
      if (pdu.command !== 'submit_sm') return accept(pdu, say)
      say({ command: 'submit_sm_resp', sequence: pdu.sequence, messageId: given.shift()! })
    })
    const { channel, up } = aChannel(port)
    await up()
    const none = { kind: 'unknown', reason: 'accepted without an id' }
    expect(await send(channel, many(3))).toEqual([{ kind: 'accepted', providerIds: ['123'] }, none, none])
  })

  test('a password that cannot be encoded ends the connection with an event, and sends nothing', async () => {
    const { port, heard } = await aPeer(accept)
    const closed = await new Promise<string>(resolve => {
      new Link(
        { host: '127.0.0.1', port, mode: 'transceiver', systemId: 'a', password: 'жук', systemType: '', ...quick },
        { onBound() {}, onDelivery() {}, onMalformed() {}, onClosed: resolve },
      )
    })
    expect(closed).toBe('the system id, password or system type cannot be encoded in SMPP')
    expect(heard).toEqual([])
  })

  test('a slow close of a bind can be shortened', async () => {
    const { port } = await aPeer((pdu, say) => (pdu.command === 'submit_sm' ? undefined : accept(pdu, say)))
    const { channel, up } = aChannel(port, { requestMs: 60_000, drainMs: 60_000 })
    await up()
    const sent = send(channel, [aMessage()])
    await eventually(() => expect(channel.health().open).toBe(1))
    const slowly = channel.setBinds(0)
    await channel.setBinds(0, 0)
    await slowly
    expect(kindsOf(await sent)).toEqual(['lost'])
  })

  test('a slow stop of a channel can be shortened', async () => {
    const { port } = await aPeer((pdu, say) => (pdu.command === 'submit_sm' ? undefined : accept(pdu, say)))
    const { channel, up } = aChannel(port, { requestMs: 60_000, drainMs: 60_000 })
    await up()
    const sent = send(channel, [aMessage()])
    await eventually(() => expect(channel.health().open).toBe(1))
    const stopped = channel.stop()
    await channel.setBinds(0, 0)
    await stopped
    expect(kindsOf(await sent)).toEqual(['lost'])
  })

  test.each([
    ['an oversized PDU', Buffer.from('7fffffff00000005000000000000002a', 'hex')],
    ['a PDU shorter than its header', Buffer.from('0000000300000005000000000000002a', 'hex')],
    ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s closes that bind with a clear error, and the bind is opened again', async (_, bytes) => {
    let isFirst = true
    const { port, heard } = await aPeer((pdu, say) => {
      if (pdu.command === 'submit_sm' && isFirst) {
        isFirst = false
        return say(bytes)
      }
      accept(pdu, say)
    })
    const { channel, up, events } = aChannel(port)
    await up()
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'lost' }])
    expect(events.find(({ kind }) => kind === 'closed')!.reason).toMatch(
      /^malformed: (a PDU of \d+ octets|the other side speaks HTTP)/,
    )
    await eventually(() => expect(heard.some(({ command }) => command === 'generic_nack')).toBe(true))
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['accepted'])
  })

  test('a peer that sends a few wrong bytes is disconnected at once, before any time-out', async () => {
    let isFirst = true
    const { port } = await aPeer((pdu, say) => {
      if (pdu.command !== 'submit_sm' || !isFirst) return accept(pdu, say)
      isFirst = false
      say(Buffer.from('hello'))
    })
    const { channel, up } = aChannel(port, { requestMs: 300_000, enquireMs: 300_000 })
    await up()
    expect(await send(channel, [aMessage()])).toMatchObject([
      { kind: 'lost', reason: expect.stringMatching(/^malformed: a PDU of/) },
    ])
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['accepted'])
  })

  test('a peer that sends wrong bytes without end is disconnected, and connected again', async () => {
    const rubbish = encode({ command: 'enquire_link', sequence: 1 })
    rubbish.writeUInt32BE(0x5555, 4)
    const flood = Buffer.concat(Array.from({ length: 5000 }, () => rubbish))
    let isFirst = true
    const { port, heard } = await aPeer((pdu, say) => {
      if (pdu.command !== 'submit_sm' || !isFirst) return accept(pdu, say)
      isFirst = false
      for (let i = 0; i < 50; i++) say(flood)
    })
    const { channel, up, events } = aChannel(port)
    await up()
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'lost', reason: 'malformed: 100 PDUs in a row' }])
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['accepted'])
    expect(events.filter(({ kind }) => kind === 'malformed').length).toBe(100)
    expect(heard.filter(({ command }) => command === 'generic_nack').length).toBeLessThanOrEqual(100)
  })

  test('a peer that sends requests without end and reads no answers is not read either', async () => {
    const question = encode({ command: 'enquire_link', sequence: 1 })
    const questions = Buffer.concat(Array.from({ length: 5000 }, () => question))
    const { port, sockets } = await aPeer(accept)
    const { up, events } = aChannel(port, { requestMs: 500, enquireMs: 500 })
    await up()
    const [socket] = sockets
    socket!.pause()
    for (let i = 0; i < 500; i++) socket!.write(questions) // 40 MB, and as much of answers
    let unread = 0
    await eventually(() => {
      if (!socket!.destroyed) unread = socket!.writableLength
      expect(events.find(({ kind }) => kind === 'closed')?.reason).toBe('no answer to enquire_link within 500 ms')
    })
    expect(unread).toBeGreaterThan(10_000_000)
    await up()
  })

  test('a peer that unbinds gets an answer, and the bind is opened again', async () => {
    const { port, heard } = await aPeer((pdu, say) => {
      accept(pdu, say)
      if (pdu.command === 'submit_sm') say({ command: 'unbind', sequence: 7 })
    })
    const { channel, up } = aChannel(port)
    await up()
    expect(kindsOf(await send(channel, [aMessage()]))).toEqual(['accepted'])
    await eventually(() => expect(heard.some(({ command }) => command === 'unbind_resp')).toBe(true))
    await eventually(() => expect(heard.filter(({ command }) => command === 'bind_transceiver').length).toBe(2))
  })

  test('a receipt for an unknown message, a receipt without a final status and an unreadable receipt are all acknowledged', async () => {
    const receipt = (sequence: number, text: string): Draft => ({
      command: 'deliver_sm',
      sequence,
      esmClass: 4,
      shortMessage: Buffer.from(text),
    })
    const { port, heard } = await aPeer((pdu, say) => {
      accept(pdu, say)
      if (pdu.command !== 'submit_sm') return
      say(receipt(1, 'id:777 stat:DELIVRD'), receipt(2, 'id:1 stat:ENROUTE'), receipt(3, 'what?'))
      say({ command: 'data_sm', sequence: 4, esmClass: 4, tlvs: { receiptedMessageId: '778', messageState: 5 } })
    })
    const { channel, up, receipts } = aChannel(port)
    await up()
    await send(channel, [aMessage()])
    await eventually(() => {
      const answers = heard.filter(({ command }) => ['deliver_sm_resp', 'data_sm_resp'].includes(command))
      expect(answers.map(({ sequence, status: code }) => [sequence, code]).sort()).toEqual([
        [1, 0],
        [2, 0],
        [3, 0],
        [4, 0],
      ])
    })
    expect(receiptIds(receipts).sort()).toEqual(['777', '778'])
  })
})

/** An SMSC in its own process, which runs while this process is frozen. */
async function anSmscProcess(settings: SmscSettings) {
  const module = JSON.stringify(new URL('smsc/smsc.ts', import.meta.url).href)
  const script = `
    import { startSmsc } from ${module}
    const smsc = await startSmsc(${JSON.stringify(settings)})
    console.log(smsc.port)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd.push(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  return { port: Number(port) }
}

/** Blocks this process for so long, as if it was frozen. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

describe('a frozen process', () => {
  test.each<[string, SmscSettings]>([
    ['answers', {}],
    ['answers behind receipts, more than we read at once', { earlyReceiptRate: 1 }],
  ])('reads all answers that arrived meanwhile, and times out no request: %s', async (_, settings) => {
    const { port } = await anSmscProcess({ answerMs: 200, ...settings })
    const receiving = aFeed({ receipts: () => new Promise(resolve => setTimeout(resolve, 5)) })
    const timing = { requestMs: 3000, enquireMs: 3000, window: 10_000, receiptIds: 'same' }
    const { channel, up, receipts, events } = aChannel(port, timing, receiving)
    await up()
    const sending = send(channel, many(4000)) // 120 KB of answers, 800 KB of receipts
    await eventually(() => expect(channel.health().open).toBeGreaterThan(0))
    standStill(4000)
    expect(new Set(kindsOf(await sending))).toEqual(new Set(['accepted']))
    await eventually(() => expect(receipts.length).toBe(4000))
    expect(events.map(({ kind }) => kind)).toEqual(['bound'])
  })
})

test('a late answer is reported as late, with the id that its receipt contains', async () => {
  let submitted: Pdu | Malformed | undefined
  let answer: (draft: Draft) => void = () => {}
  const { port } = await aPeer((pdu, say) => {
    if (pdu.command !== 'submit_sm') return accept(pdu, say)
    submitted = pdu
    answer = say
  })
  const told: LateAnswer[] = []
  const receiving = aFeed()
  receiving.feed.late = async late => void told.push(late)
  const { channel, up } = aChannel(port, { requestMs: 50 }, receiving)
  await up()
  const message = aMessage()
  expect(kindsOf(await send(channel, [message]))).toEqual(['unknown'])
  answer({ command: 'submit_sm_resp', sequence: submitted!.sequence, messageId: '00AB' })
  await eventually(() =>
    expect(told).toEqual([{ companyId: 1, uuid: message.uuid, part: 0, parts: 1, providerId: 'ab' }]),
  )
})

describe('receipts with a "done date"', () => {
  async function receiptedAt(doneDate: string, settings: Record<string, unknown>) {
    const { port } = await aPeer((pdu, say) => {
      accept(pdu, say)
      const shortMessage = Buffer.from(`id:1 done date:${doneDate} stat:DELIVRD`)
      if (pdu.command === 'submit_sm') say({ command: 'deliver_sm', sequence: 1, esmClass: 4, shortMessage })
    })
    const { channel, up, receipts } = aChannel(port, settings)
    await up()
    await send(channel, [aMessage()])
    await eventually(() => expect(receipts.length).toBe(1))
    return receipts[0]!.happenedAt
  }

  test('have that time, in the zone of the settings', async () => {
    expect(await receiptedAt('2601021530', { receiptZoneMinutes: 180 })).toEqual(new Date('2026-01-02T12:30:00Z'))
  })

  test('never have a time in the future, in any zone', async () => {
    const before = Date.now()
    const happenedAt = await receiptedAt('9901021530', { receiptZoneMinutes: -840 })
    expect(happenedAt.getTime()).toBeGreaterThanOrEqual(before)
    expect(happenedAt.getTime()).toBeLessThanOrEqual(Date.now())
  })
})

describe('reconnecting', () => {
  const options = { firstBackoffMs: 1000, mostBackoffMs: 60_000 }

  test.each([
    [0, 0, 500],
    [0, 0.5, 750],
    [1, 0.5, 1500],
    [3, 0, 4000],
    [3, 1, 8000],
    [20, 0, 30_000],
    [5000, 1, 60_000],
  ])('after %i failures, with the random value %d: %d ms', (failures, chance, pauseMs) => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(chance)
    expect(backoffMs(failures, options)).toBe(pauseMs)
  })

  test('waits longer every time, and starts with the first pause after a bind', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    atEnd.push(() => vi.restoreAllMocks())
    const pauses = () => timers.mock.calls.filter(([act]) => act.name === 'connect').map(([, ms]) => ms)
    const { smsc } = await anSmsc()
    const { port } = smsc
    await smsc.stop()
    const { channel, up } = aChannel(port, { firstBackoffMs: 5, mostBackoffMs: 15 })
    await eventually(() => expect(pauses().slice(0, 4)).toEqual([5, 10, 15, 15]))
    const again = await anSmsc({ port })
    await up()
    const failures = pauses().length
    again.smsc.disconnect()
    await eventually(() => expect(channel.health().lastError).not.toContain('ECONNREFUSED'))
    expect(pauses()[failures]).toBe(5)
  })
})

/** The package as the SMSC: it answers, and sends a text receipt for every submission. */
async function aPackageServer(options: {
  tls?: { key: string; cert: string }
  onSubmit?: (pdu: PackagePdu, session: PackageSession) => void
}) {
  const submitted: PackagePdu[] = []
  const delivered: PackagePdu[] = []
  let unbinds = 0
  let lastId = 0
  const server = smppPackage.createServer({ ...options.tls }, session => {
    session.on('error', () => {})
    session.on('bind_transceiver', (pdu: PackagePdu) => {
      const isRight = pdu.system_id === 'tidings' && pdu.password === 'secret'
      session.send(pdu.response(isRight ? {} : { command_status: smppPackage.errors.ESME_RBINDFAIL }))
    })
    session.on('enquire_link', (pdu: PackagePdu) => session.send(pdu.response()))
    session.on('unbind', (pdu: PackagePdu) => {
      unbinds++
      session.send(pdu.response())
    })
    session.on('submit_sm', (pdu: PackagePdu) => {
      submitted.push(pdu)
      if (options.onSubmit) return options.onSubmit(pdu, session)
      const id = String(++lastId)
      session.send(pdu.response({ message_id: id }))
      const short_message = `id:${id} sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:`
      session.deliver_sm({ esm_class: 4, source_addr: pdu.destination_addr, short_message }, (answer: PackagePdu) =>
        delivered.push(answer),
      )
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd.push(() => {
    for (const session of server.sessions ?? []) session.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, submitted, delivered, server, unbinds: () => unbinds }
}

describe('against the package smpp as the server', () => {
  test('submits, receives receipts and unbinds', async () => {
    const { port, submitted, delivered, unbinds } = await aPackageServer({})
    const { channel, up, receipts } = aChannel(port)
    await up()
    const results = await send(channel, [...many(50), aMessage({ text: 'Привет, мир' }), aMessage({ text: '[€]' })])
    expect(new Set(kindsOf(results))).toEqual(new Set(['accepted']))
    expect(submitted.map(pdu => pdu.short_message.message).slice(-2)).toEqual(['Привет, мир', '[€]'])
    await eventually(() => expect(receiptIds(receipts).sort()).toEqual(idsOf(results).sort()))
    await eventually(() => expect(delivered.length).toBe(52))
    expect(delivered.every(({ command_status }) => command_status === 0)).toBe(true)
    await channel.stop()
    expect(unbinds()).toBe(1)
  })

  for (const longMessages of ['udh', 'sar', 'payload'] satisfies LongMessages[]) {
    test(`long messages arrive whole: ${longMessages}`, async () => {
      const { port, submitted } = await aPackageServer({})
      const { channel, up } = aChannel(port, { longMessages })
      await up()
      for (const text of [LONG_LATIN, LONG_CYRILLIC]) {
        submitted.length = 0
        await send(channel, [aMessage({ text })])
        const texts = submitted.map(pdu =>
          longMessages === 'payload' ? pdu.message_payload.message : pdu.short_message.message,
        )
        expect(texts.join('')).toBe(text)
        if (longMessages === 'udh')
          expect(submitted.map(pdu => pdu.short_message.udh[0][4])).toEqual(texts.map((_, i) => i + 1))
        if (longMessages === 'sar')
          expect(submitted.map(pdu => pdu.sar_segment_seqnum)).toEqual(texts.map((_, i) => i + 1))
      }
    })
  }

  test('handles a wrong password, throttling, and a cut connection', async () => {
    let turn = 0
    const { port } = await aPackageServer({
      onSubmit(pdu, session) {
        turn++
        if (turn === 1) return void session.send(pdu.response({ command_status: smppPackage.errors.ESME_RMSGQFUL }))
        if (turn === 2) return session.destroy()
        session.send(pdu.response({ message_id: 'abc' }))
      },
    })
    const wrong = aChannel(port, { password: 'wrong' })
    await eventually(() => expect(wrong.channel.health().lastError).toBe('bind refused: ESME_RBINDFAIL (0x0d)'))
    const { channel, up } = aChannel(port)
    await up()
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'busy', reason: 'ESME_RMSGQFUL (0x14)' }])
    expect(await send(channel, [aMessage()])).toMatchObject([{ kind: 'lost' }])
    expect(await send(channel, [aMessage()])).toEqual([{ kind: 'accepted', providerIds: ['abc'] }])
  })

  test('its client can use our SMSC', async () => {
    const { smsc, messages } = await anSmsc({ receiptStyle: 'both' })
    const session = smppPackage.connect({ host: '127.0.0.1', port: smsc.port })
    atEnd.push(() => session.destroy())
    session.on('error', () => {})
    const ask = (command: string, fields: Record<string, unknown>) =>
      new Promise<PackagePdu>(resolve => session[command]!(fields, resolve))
    await new Promise(resolve => session.on('connect', resolve))
    expect((await ask('bind_transceiver', { system_id: 'other', password: 'x' })).command_status).toBe(0)
    const receipt = new Promise<PackagePdu>(resolve => session.on('deliver_sm', resolve))
    const fields = {
      source_addr: 'A',
      destination_addr: '79160000001',
      registered_delivery: 1,
      short_message: 'Привет',
    }
    const { message_id } = await ask('submit_sm', fields)
    expect(messages).toMatchObject([{ text: 'Привет', id: message_id }])
    expect(await receipt).toMatchObject({ receipted_message_id: message_id, message_state: 2 })
  })
})

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** A certificate for 127.0.0.1 and the authority that signed it. */
function makeCertificates({ expired = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-tls-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
  )
  openssl('req', ...newKey, '-keyout', file('key.pem'), '-out', file('csr.pem'), '-subj', '/CN=smsc')
  writeFileSync(file('san'), 'subjectAltName=IP:127.0.0.1,DNS:smsc.example\n')
  const signed = [
    '-CA',
    file('ca.pem'),
    '-CAkey',
    file('ca.key'),
    '-CAcreateserial',
    '-extfile',
    file('san'),
    '-days',
    expired ? '-1' : '2',
  ]
  openssl('x509', '-req', '-in', file('csr.pem'), ...signed, '-out', file('cert.pem'))
  const [ca, caKey, key, cert] = ['ca.pem', 'ca.key', 'key.pem', 'cert.pem'].map(name =>
    readFileSync(file(name), 'utf8'),
  )
  rmSync(folder, { recursive: true })
  return { ca: ca!, caKey: caKey!, key: key!, cert: cert! }
}

describe.skipIf(!hasOpenssl)('over TLS', () => {
  test('a certificate of the given authority is trusted; another authority and another name are not', async () => {
    const { ca, key, cert } = makeCertificates()
    const { smsc } = await anSmsc({ tls: { key, cert } })
    const trusted = aChannel(smsc.port, { tls: true, tlsCa: ca })
    await trusted.up()
    expect(kindsOf(await send(trusted.channel, many(3)))).toEqual(['accepted', 'accepted', 'accepted'])
    await eventually(() => expect(trusted.receipts.length).toBe(3))

    const untrusting = aChannel(smsc.port, { tls: true })
    await eventually(() =>
      expect(untrusting.channel.health().lastError).toMatch(/authority that is not trusted here: set tlsCa/),
    )
    const misled = aChannel(smsc.port, { tls: true, tlsCa: ca, tlsServerName: 'another.example' })
    await eventually(() =>
      expect(misled.channel.health().lastError).toMatch(
        /is not for "another.example", but for .*DNS:smsc.example: set tlsServerName/,
      ),
    )
    expect(smsc.counts.binds).toBe(1)
  })

  test('no environment variable switches the verification off', async () => {
    const { key, cert } = makeCertificates()
    const { smsc } = await anSmsc({ tls: { key, cert } })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    atEnd.push(() => vi.unstubAllEnvs())
    const { channel } = aChannel(smsc.port, { tls: true })
    await eventually(() => expect(channel.health().lastError).toMatch(/authority that is not trusted here/))
    expect(smsc.counts.binds).toBe(0)
  })

  test('the error names an expired and a self-signed certificate', async () => {
    const { ca, key, cert } = makeCertificates({ expired: true })
    const { smsc } = await anSmsc({ tls: { key, cert } })
    const late = aChannel(smsc.port, { tls: true, tlsCa: ca })
    await eventually(() => expect(late.channel.health().lastError).toMatch(/has expired: the operator must renew it/))

    const { ca: ownCert, caKey: ownKey } = makeCertificates()
    const { smsc: alone } = await anSmsc({ tls: { key: ownKey, cert: ownCert } })
    const { channel } = aChannel(alone.port, { tls: true })
    await eventually(() => expect(channel.health().lastError).toMatch(/is self-signed: set tlsCa to that certificate/))
  })

  test('the error says that only one side uses TLS', async () => {
    const { smsc: plain } = await anSmsc()
    const encrypting = aChannel(plain.port, { tls: true })
    await eventually(() => expect(encrypting.channel.health().lastError).toMatch(/does not speak TLS on this port/))

    const { key, cert } = makeCertificates()
    const { smsc: encrypted } = await anSmsc({ tls: { key, cert } })
    const { channel } = aChannel(encrypted.port)
    await eventually(() => expect(channel.health().lastError).toMatch(/set tls=true when the operator expects TLS/))

    const { port: silent } = await aPeer(() => {})
    const waiting = aChannel(silent, { tls: true, connectMs: 100 })
    await eventually(() => expect(waiting.channel.health().lastError).toMatch(/no TLS handshake .* within 100 ms/))
  })

  test('the package smpp as the server', async () => {
    const { ca, key, cert } = makeCertificates()
    const { port } = await aPackageServer({ tls: { key, cert } })
    const { channel, up, receipts } = aChannel(port, { tls: true, tlsCa: ca, tlsServerName: 'smsc.example' })
    await up()
    expect(kindsOf(await send(channel, many(3)))).toEqual(['accepted', 'accepted', 'accepted'])
    await eventually(() => expect(receipts.length).toBe(3))
  })
})

test('receipts and inbound messages have the time of the service, also if the clock of this machine is wrong', async () => {
  const now = new Date('2020-01-02T03:04:05Z')
  const told = aFeed()
  told.feed.now = () => now
  const { smsc } = await anSmsc({ receiptMs: 0 })
  const { channel, up, receipts, inbound } = aChannel(smsc.port, { receiptZoneMinutes: 0 }, told)
  await up()
  await send(channel, many(1))
  smsc.deliver({ systemId: 'tidings', from: '79161000001', to: 'Tidings', text: 'Hello' })
  await eventually(() => expect([receipts.length, inbound.length]).toEqual([1, 1]))
  expect([receipts[0]!.happenedAt, inbound[0]!.receivedAt]).toEqual([now, now])
})

describe('reused ids', () => {
  const taken = (result: SendResult) => ({ submit: (async (_, report) => report(0, result)) as Channel['submit'] })

  test.each<[string, SendResult]>([
    ['accepted', { kind: 'accepted', providerIds: ['7', '8'] }],
    ['accepted in part', { kind: 'busy', reason: '', retryAfterMs: 1, taken: { 1: '7' } }],
    ['without an answer to a part', { kind: 'unknown', reason: '', taken: { 0: '7', 1: '' } }],
  ])('of a long message, %s, no longer belong to the old message', async (_, result) => {
    const { feed, receipts } = aFeed()
    const own = new OwnIds(feed)
    const old = aMessage()
    const submit = (said: SendResult) => own.submitThrough(taken(said) as Channel)
    await submit({ kind: 'accepted', providerIds: ['7'] })(
      [old],
      () => {},
      () => true,
    )
    await submit(result)(
      [aMessage({ parts: 2 })],
      () => {},
      () => true,
    )
    await own.feed.receipts([{ of: { providerId: '7' }, status: 'DELIVERED', happenedAt: new Date() }])
    expect(receipts.map(({ of }) => of)).toEqual([{ providerId: '7' }])
  })

  test('are forgotten after some minutes, because another process may get the receipts', async () => {
    const { feed, receipts } = aFeed()
    const time = { now: 0 }
    const own = new OwnIds(feed, { clock: () => time.now })
    const submit = own.submitThrough(taken({ kind: 'accepted', providerIds: ['7'] }) as Channel)
    const message = aMessage()
    const receiptAfter = async (minutes: number) => {
      time.now = 0
      await submit(
        [message],
        () => {},
        () => true,
      )
      time.now = minutes * 60_000
      await own.feed.receipts([{ of: { providerId: '7' }, status: 'DELIVERED', happenedAt: new Date() }])
      return receipts.at(-1)!.of
    }
    expect(await receiptAfter(1)).toEqual({ companyId: 1, uuid: message.uuid })
    expect(await receiptAfter(5)).toEqual({ providerId: '7' })
  })

  test('of another short message belong to it', async () => {
    const { feed, receipts } = aFeed()
    const own = new OwnIds(feed)
    const submit = own.submitThrough(taken({ kind: 'accepted', providerIds: ['7'] }) as Channel)
    const [old, young] = many(2) as [Outgoing, Outgoing]
    for (const message of [old, young])
      await submit(
        [message],
        () => {},
        () => true,
      )
    await own.feed.receipts([{ of: { providerId: '7' }, status: 'DELIVERED', happenedAt: new Date() }])
    expect(receipts.map(({ of }) => of)).toEqual([{ companyId: 1, uuid: young.uuid }])
  })

  describe('for the same number', () => {
    const [number, other] = ['79161000001', '79161000002']

    /** A message that was accepted with the id 7, and a second message to the same number without an answer yet. */
    async function aSecondUnderWay({ isRestarted }: { isRestarted: boolean }) {
      const { feed, receipts } = aFeed()
      const own = new OwnIds(feed, { unsureForMs: 1234 })
      const [old, young] = [aMessage({ destination: number }), aMessage({ destination: number })]
      const answered: SendResult = { kind: 'accepted', providerIds: ['7'] }
      const submit = (channel: Pick<Channel, 'submit'>, message: Outgoing) =>
        own.submitThrough(channel)(
          [message],
          () => {},
          () => true,
        )
      await submit(taken(answered), old)
      if (isRestarted) own.reconnected()
      const answer = Promise.withResolvers<void>()
      const slow: Channel['submit'] = async (_, report, mayGo) => {
        mayGo(0)
        await answer.promise
        report(0, answered)
      }
      const submitted = submit({ submit: slow }, young)
      const receipted = async (subscriber: string) => {
        await own.feed.receipts([{ of: { providerId: '7' }, subscriber, status: 'DELIVERED', happenedAt: new Date() }])
        const { of, unsure } = receipts.at(-1)!
        return { of, unsure }
      }
      const isAnswered = () => {
        answer.resolve()
        return submitted
      }
      return { old, young, receipted, isAnswered }
    }

    test('after a restart of the operator, a receipt before the answer is unsure, and a receipt after it too', async () => {
      const { young, receipted, isAnswered } = await aSecondUnderWay({ isRestarted: true })
      expect(await receipted(number)).toEqual({ of: { providerId: '7' }, unsure: { forMs: 1234 } })
      expect(await receipted(other)).toEqual({ of: { providerId: '7' } })
      await isAnswered()
      expect(await receipted(number)).toEqual({ of: { providerId: '7' }, unsure: { forMs: 1234, unless: young.uuid } })
    })

    test('without a restart the receipt belongs to the message with the id', async () => {
      const { old, receipted, isAnswered } = await aSecondUnderWay({ isRestarted: false })
      expect(await receipted(number)).toEqual({ of: { companyId: 1, uuid: old.uuid } })
      await isAnswered()
    })
  })
})

describe('settings', () => {
  test('the error names the wrong setting, and does not contain its value', () => {
    const told = aFeed().feed
    expect(() => new Smpp({ port: 1, systemId: 'a' }, told)).toThrow('setting "host"')
    expect(() => new Smpp({ host: 'a', systemId: 'a', window: 0 }, told)).toThrow('setting "window" must be 1 to 10000')
    expect(() => new Smpp({ host: 'a', systemId: 'a', tlsCa: 'x' }, told)).toThrow('setting "tlsCa" is no certificate')
    expect(() => new Smpp({ host: 'a', systemId: 'a', mode: 'x' }, told)).toThrow('setting "mode" must be one of')
    expect(() => new Smpp({ host: 'a', systemId: 'a', password: 'se\0cret' }, told)).toThrow(/^setting "password" has/)
  })

  test.each([0, 2, 3, 16, 18])('a registeredDelivery of %i would make every message fail, and is refused', value => {
    const raw = { host: 'a', systemId: 'a' }
    expect(() => readSettings({ ...raw, registeredDelivery: value })).toThrow(
      'setting "registeredDelivery" must ask for a receipt of every message, as 1 or 17 do',
    )
    expect(readSettings({ ...raw, registeredDelivery: 17 })).toMatchObject({ registeredDelivery: 17 })
  })

  test('lost messages are sent again unless the settings say otherwise', () => {
    const raw = { host: 'a', systemId: 'a' }
    expect(readSettings(raw)).toMatchObject({ resendLost: true })
    expect(readSettings({ ...raw, resendLost: 'false' })).toMatchObject({ resendLost: false })
    expect(() => readSettings({ ...raw, resendLost: 'no' })).toThrow('setting "resendLost" must be true or false')
  })

  test.each(['systemId', 'password', 'systemType', 'serviceType'])(
    'a character that SMPP does not have, in %s',
    name => {
      const told = aFeed().feed
      expect(() => new Smpp({ host: 'a', systemId: 'a', [name]: 'жук' }, told)).toThrow(
        `setting "${name}" has a character that SMPP cannot carry: only Latin-1 is allowed`,
      )
      expect(readSettings({ host: 'a', systemId: 'a', [name]: 'ÿé1' })).toMatchObject({ [name]: 'ÿé1' })
    },
  )
})
