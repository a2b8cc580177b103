import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Feed, Outgoing, SendResult } from '../channel.ts'
import { encode } from './protocol/codec.ts'
import { Framer } from './protocol/framer.ts'
import type { Draft, Pdu } from './protocol/pdu.ts'
import { Smpp } from './smpp.ts'
import { startSmsc } from './smsc/smsc.ts'

/** Hostile PDUs over real sockets, for our client and our SMSC. protocol/codec.test.ts does the same for the codec. */

const ends: (() => unknown)[] = []
const uncaught: Error[] = []
const note = (error: Error) => void uncaught.push(error)
beforeEach(() => void process.on('uncaughtException', note))
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  process.off('uncaughtException', note)
  expect(uncaught.splice(0)).toEqual([])
})

/** The same numbers in every run, so that a failure can be repeated. */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

const text = 'id:1 sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:x'
const good: Draft[] = [
  { command: 'bind_transceiver', sequence: 1, systemId: 'tidings', password: 'secret' },
  { command: 'submit_sm', sequence: 2, destinationAddr: '79161234567', shortMessage: Buffer.from('Hello') },
  { command: 'deliver_sm', sequence: 3, esmClass: 4, shortMessage: Buffer.from(text) },
  { command: 'deliver_sm', sequence: 4, esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 1, 2, 1, 65]) },
  { command: 'submit_sm_resp', sequence: 5, messageId: '1' },
  { command: 'enquire_link', sequence: 6 },
  { command: 'unbind', sequence: 7 },
  { command: 'generic_nack', sequence: 8 },
] as Draft[]

/** A good PDU with some changed octets. The length stays right in most of them, so that the rest is read. */
function hostile(draw: (below: number) => number): Buffer {
  const pdu = encode(good[draw(good.length)]!)
  const from = draw(4) === 0 ? 0 : 4
  for (let changes = 1 + draw(6); changes > 0; changes -= 1) pdu[from + draw(pdu.length - from)] = draw(256)
  return pdu
}

const STREAMS = 60
const streamOf = (draw: (below: number) => number) =>
  Buffer.concat(Array.from({ length: 1 + draw(20) }, () => hostile(draw)))

test('our SMSC serves other clients after any octets of a client', async () => {
  const smsc = await startSmsc({ accounts: { tidings: 'secret' } })
  ends.push(() => smsc.stop())
  const draw = numbersFrom(7)
  for (let stream = 0; stream < STREAMS; stream += 1) {
    const socket = dial(smsc.port, '127.0.0.1')
    socket.on('error', () => {})
    if (stream % 2 === 0) socket.write(encode(good[0]!))
    socket.end(streamOf(draw))
    socket.resume()
    await once(socket, 'close')
  }
  expect(kindOf(await sendThrough(smsc.port))).toBe('accepted')
})

test('our client connects again and sends after any octets of an operator', async () => {
  const draw = numbersFrom(11)
  let streams = 0
  const server = createServer(socket => answer(socket, () => (streams++ < STREAMS ? streamOf(draw) : undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  const { port } = server.address() as { port: number }
  expect(kindOf(await sendThrough(port, () => streams >= STREAMS))).toBe('accepted')
})

/** An operator that accepts binds and messages, and first sends hostile octets after each bind. */
function answer(socket: Socket, next: () => Buffer | undefined) {
  socket.on('error', () => {})
  ends.push(() => socket.destroy())
  const onPdu = (pdu: Pdu) => {
    const { sequence } = pdu
    if (pdu.command === 'bind_transceiver') {
      const octets = next()
      socket.write(encode({ command: 'bind_transceiver_resp', sequence }))
      if (octets) socket.end(octets)
    }
    if (pdu.command === 'submit_sm') socket.write(encode({ command: 'submit_sm_resp', sequence, messageId: '1' }))
    if (pdu.command === 'enquire_link') socket.write(encode({ command: 'enquire_link_resp', sequence }))
    if (pdu.command === 'unbind') socket.end(encode({ command: 'unbind_resp', sequence }))
  }
  const framer = new Framer({ onPdu, onMalformed() {}, onBroken() {} })
  socket.on('data', chunk => framer.push(chunk))
}

const feed: Feed = { async receipts() {}, async inbound() {}, async gone() {} }

/** Sends a message when the channel is up, and `isReady` holds. */
async function sendThrough(port: number, isReady = () => true): Promise<SendResult | undefined> {
  const raw = { host: '127.0.0.1', port, systemId: 'tidings', password: 'secret', firstBackoffMs: 1, mostBackoffMs: 5 }
  const channel = new Smpp({ ...raw, drainMs: 200 }, feed, {})
  ends.push(() => channel.stop())
  let result: SendResult | undefined
  await eventually(async () => {
    expect([isReady(), channel.health().up]).toEqual([true, true])
    await channel.submit(
      [message],
      (_, given) => (result = given),
      () => true,
    )
    expect(kindOf(result)).toBe('accepted')
  })
  return result
}

const kindOf = (result: SendResult | undefined) => result?.kind
const message = {
  companyId: 1,
  uuid: '0198c5a0-0000-7000-8000-000000000001',
  channelType: 'SMS',
  senderName: 'Tidings',
  destination: '79161234567',
  text: 'Hello',
  parts: 1,
  attempts: 0,
} as Outgoing
