import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Channel, Feed, Outgoing, Receipt, SendResult } from '../../channels/channel.ts'
import { Connection } from '../../channels/smpp/protocol/connection.ts'
import { Smpp } from '../../channels/smpp/smpp.ts'
import { eventually } from '../../testing/eventually.ts'
import {
  expectSentence,
  firstOutput,
  type Running,
  run,
  start,
  startService,
  stop,
  useDataFolders,
} from '../../testing/processes.ts'

const atEnd: (() => unknown)[] = []

afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end()
})

type Counts = Record<'messages' | 'parts' | 'receipts' | 'binds' | 'refused' | 'throttled' | 'disconnects', number>

/** `tidings smsc` as people run it, on a port that is free. */
async function anSmsc(...words: string[]) {
  const running = start(['smsc', '--port', '0', '--json', ...words], {})
  atEnd.push(() => running.child.kill('SIGKILL'))
  const { address } = JSON.parse((await firstOutput(running, /\n/)).split('\n')[0]!)
  return { running, port: Number(new URL(address).port) }
}

/** Its last count, which it prints when it is interrupted. */
async function countsOf(running: Running): Promise<Counts> {
  const { code, stdout, stderr } = await stop(running)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

const deaf: Feed = { receipts: async () => {}, inbound: async () => {}, gone: async () => {} }

const at = (port: number) => ({
  host: '127.0.0.1',
  port,
  systemId: 'demo',
  password: 'secret',
  firstBackoffMs: 20,
  mostBackoffMs: 100,
  drainMs: 500,
  receiptIds: 'same',
})

/** A client that binds to the SMSC and stores everything that it receives. */
async function anEsme(port: number, settings: Record<string, unknown> = {}) {
  const receipts: (Receipt & { at: number })[] = []
  const channel = new Smpp(
    { ...at(port), ...settings },
    {
      ...deaf,
      async receipts(batch) {
        receipts.push(...batch.map(receipt => ({ ...receipt, at: performance.now() })))
      },
    },
  )
  atEnd.push(() => channel.stop())
  await eventually(() => expect(channel.health().up).toBe(true))
  return { channel, receipts }
}

const SHORT = 'Hello'
const LONG = 'Hello over SMPP, and a little more of it. '.repeat(8) // three parts

const someMessages = (count: number, text = SHORT): Outgoing[] =>
  Array.from({ length: count }, (_, i) => ({
    companyId: 1,
    uuid: randomUUID(),
    channelType: 'SMS',
    senderName: 'Tidings',
    destination: String(79_160_000_000 + i),
    text,
    parts: text === LONG ? 3 : 1,
    attempts: 0,
  }))

/** How many were answered how. */
async function send(channel: Channel, messages: Outgoing[]): Promise<Record<string, number>> {
  const kinds: string[] = []
  const note = (_: number, result: SendResult) => kinds.push(result.kind)
  await channel.submit(messages, note, () => true)
  return Object.fromEntries([...Map.groupBy(kinds, kind => kind)].map(([kind, all]) => [kind, all.length]))
}

/** The answers and receipts of one submission, in their order. */
async function orderOf(port: number): Promise<string[]> {
  const happened: string[] = []
  const connection = new Connection(connect(port, '127.0.0.1'), {
    onPdu({ command }) {
      if (command === 'bind_transceiver_resp') submit()
      else happened.push(command)
    },
    onMalformed() {},
    onClosed() {},
  })
  const submit = () =>
    connection.send({ command: 'submit_sm', sequence: 2, destinationAddr: '79160000000', registeredDelivery: 1 })
  atEnd.push(() => connection.destroy('over'))
  connection.send({ command: 'bind_transceiver', sequence: 1, systemId: 'demo' })
  await eventually(() => expect(happened).toHaveLength(2))
  return happened
}

describe('tidings smsc', () => {
  test('takes everything, reports it at once, and counts it truly', async () => {
    const { running, port } = await anSmsc('--account', 'demo:secret')
    const { channel, receipts } = await anEsme(port, { binds: 2 })
    await eventually(() => expect(channel.health().binds).toEqual({ bound: 2, wanted: 2 }))
    expect(await send(channel, [...someMessages(20), ...someMessages(10, LONG)])).toEqual({ accepted: 30 })
    await eventually(() => expect(receipts).toHaveLength(50))
    expect(receipts.every(({ status }) => status === 'DELIVERED')).toBe(true)
    expect(await countsOf(running)).toEqual({
      messages: 30,
      parts: 50,
      receipts: 50,
      binds: 2,
      refused: 0,
      throttled: 0,
      disconnects: 0,
    })
  })

  test('lets in whom it was told to', async () => {
    const { running, port } = await anSmsc('--account', 'demo:secret', '--account', 'other:se:cret')
    await anEsme(port, { systemId: 'other', password: 'se:cret' })
    const stranger = new Smpp({ ...at(port), password: 'barley' }, deaf)
    atEnd.push(() => stranger.stop())
    await eventually(() => expect(stranger.health().lastError).toContain('ESME_RINVPASWD'))
    expect(await countsOf(running)).toMatchObject({ binds: 1, parts: 0 })
  })

  test('--rate: more in a second are throttled', async () => {
    const { running, port } = await anSmsc('--rate', '10')
    const { channel } = await anEsme(port, { window: 30 })
    const { accepted, busy } = await send(channel, someMessages(30))
    expect({ accepted, busy }).toEqual({ accepted: 10, busy: 20 })
    expect(await countsOf(running)).toMatchObject({ messages: 10, parts: 10, throttled: 20, refused: 0 })
  })

  test('--receipt-ms: receipts come anywhere up to then', async () => {
    const { port } = await anSmsc('--receipt-ms', '1000')
    const { channel, receipts } = await anEsme(port)
    await send(channel, someMessages(60))
    await eventually(() => expect(receipts).toHaveLength(60))
    const moments = receipts.map(({ at }) => at)
    expect(Math.max(...moments) - Math.min(...moments)).toBeGreaterThan(300)
  })

  test('--fail-rate: these are not delivered', async () => {
    const { port } = await anSmsc('--fail-rate', '1')
    const { channel, receipts } = await anEsme(port)
    expect(await send(channel, someMessages(5))).toEqual({ accepted: 5 })
    await eventually(() => expect(receipts).toHaveLength(5))
    for (const receipt of receipts) expect(receipt).toMatchObject({ status: 'FAILED', errorCode: 603 })
  })

  test('--throttle-rate: this share of submissions is refused temporarily at any speed', async () => {
    const { running, port } = await anSmsc('--throttle-rate', '1')
    const { channel } = await anEsme(port)
    expect(await send(channel, someMessages(1))).toEqual({ busy: 1 })
    expect(await countsOf(running)).toMatchObject({ messages: 0, parts: 0, throttled: 1, refused: 0 })
  })

  test('--disconnect-rate: the connection is cut, after it has taken them', async () => {
    const { running, port } = await anSmsc('--disconnect-rate', '1')
    const { channel } = await anEsme(port)
    expect((await send(channel, someMessages(1))).accepted).toBeUndefined()
    const { parts, disconnects } = await countsOf(running)
    expect(parts).toBeGreaterThan(0)
    expect(disconnects).toBe(parts)
  })

  test('--duplicate-rate: these receipts come twice', async () => {
    const { running, port } = await anSmsc('--duplicate-rate', '1')
    const { channel, receipts } = await anEsme(port)
    await send(channel, someMessages(5))
    await eventually(() => expect(receipts).toHaveLength(10))
    expect(await countsOf(running)).toMatchObject({ messages: 5, receipts: 10 })
  })

  test.each([
    ['0', 'submit_sm_resp', 'deliver_sm'],
    ['1', 'deliver_sm', 'submit_sm_resp'],
  ])('--early-rate %s: first %s, then %s', async (rate, ...order) => {
    const { port } = await anSmsc('--early-rate', rate)
    expect(await orderOf(port)).toEqual(order)
  })

  test('--missing-rate: these receipts never come', async () => {
    const { running, port } = await anSmsc('--missing-rate', '1')
    const { channel, receipts } = await anEsme(port)
    expect(await send(channel, someMessages(5))).toEqual({ accepted: 5 })
    expect(await countsOf(running)).toMatchObject({ messages: 5, receipts: 0 })
    expect(receipts).toEqual([])
  })

  test('for people it prints sentences, and its counts again and again', async () => {
    const running = start(['smsc', '--port', '0'], {})
    atEnd.push(() => running.child.kill('SIGKILL'))
    const line = 'messages 0  parts 0  receipts 0  binds 0  refused 0  throttled 0  disconnects 0\n'
    await firstOutput(running, /disconnects 0\n/)
    expect(await stop(running)).toMatchObject({ code: 0, stderr: '' })
    expect(running.stdout()).toMatch(/^The SMSC listens on smpp:\/\/127\.0\.0\.1:\d+\.\n/)
    expect(running.stdout().split('\n').slice(1).join('\n')).toBe(line + line)
  })

  test('a port in use is told in one sentence', async () => {
    const { port } = await anSmsc()
    const told = await run(['smsc', '--port', String(port)], {})
    expectSentence(told, new RegExp(`The SMSC cannot listen on 127\\.0\\.0\\.1:${port}: EADDRINUSE\\.`))
  })

  test.each([
    [['--rate', '0'], /--rate must be a whole number from 1 to 10000000, not "0"/],
    [['--port', '70000'], /--port must be a whole number from 0 to 65535, not "70000"/],
    [['--fail-rate', '1.5'], /--fail-rate must be a share from 0 to 1, not "1\.5"/],
    [['--early-rate', 'often'], /--early-rate must be a share from 0 to 1, not "often"/],
    [['--account', 'hunter2'], /--account must be written as ID:PASSWORD\.\n/],
  ])('%j is a mistake', async (words, sentence) => {
    expectSentence(await run(['smsc', ...words], {}), sentence)
  })
})

const aDataFolder = useDataFolders()

/** In their order, the words of each as a shell would read them; the SMSC on a port that is free. */
async function commandsOfTheDocument(port: number): Promise<string[][]> {
  const document = await readFile(new URL('../../../docs/smsc.md', import.meta.url), 'utf8')
  const lines = document.split('\n').filter(line => line.startsWith('tidings '))
  return lines.map(line =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)]
      .slice(1)
      .map(([, quoted, plain]) => (quoted ?? plain)!.replace('2775', String(port))),
  )
}

test('the commands of docs/smsc.md do what it says', async () => {
  const { running: smsc, port } = await anSmsc('--account', 'demo:secret')
  const [first, ...others] = await commandsOfTheDocument(port)
  expect(first).toEqual(['smsc', '--account', 'demo:secret'])
  expect(others).toHaveLength(4)

  const folder = await aDataFolder()
  const env = { TIDINGS_DATA: folder }
  const service = await startService(['serve'], env)
  atEnd.push(() => stop(service))
  const file = join(dirname(folder), 'recipients.csv')
  const numbers = Array.from({ length: 50 }, (_, i) => 79_161_000_000 + i)
  await writeFile(file, ['destination', ...numbers, ''].join('\n'))

  let listed = ''
  for (const words of others) {
    const given = words.map(word => (word === 'recipients.csv' ? file : word))
    const { code, stdout } = await run(given, env)
    expect({ code, words }).toEqual({ code: 0, words })
    listed = stdout
  }
  expect(listed).toMatch(/ simulator-sms .* paused\n/)
  await eventually(async () =>
    expect((await run(others.at(-1)!, env)).stdout).toMatch(/ smsc .* at work, 2 of 2 binds, /),
  )
  expect(await countsOf(smsc)).toMatchObject({ messages: 50, parts: 50, receipts: 50, binds: 2 })
})
