import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Request, RequestPort } from './protocol.ts'
import { RequestReceiver, RequestSender } from './requests.ts'

const atEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of atEnd.splice(0)) await end()
})

const aRequest = (call: number): Request => ({ kind: 'extend', call, latestAt: 0, withdrawn: [] })
const callsOf = (requests: Request[]) => requests.map(({ call }) => call)
const turnOfLoop = () => new Promise(resolve => setImmediate(resolve))

function receive(receiving: RequestPort) {
  const taken: Request[] = []
  const receiver = new RequestReceiver(receiving, request => taken.push(request))
  atEnd.push(() => receiver.close())
  return { receiver, taken }
}

test('requests are taken during long work, in their order and once', async () => {
  const sender = new RequestSender()
  const { receiver, taken } = receive(sender.receiving)
  for (const call of [1, 2, 3]) sender.post(aRequest(call))
  receiver.takeWaiting()
  expect(callsOf(taken)).toEqual([1, 2, 3])
  receiver.takeWaiting()
  await turnOfLoop()
  await turnOfLoop()
  expect(callsOf(taken)).toEqual([1, 2, 3])
})

test('requests are taken without long work, too, and then not again', async () => {
  const sender = new RequestSender()
  const { receiver, taken } = receive(sender.receiving)
  sender.post(aRequest(1))
  await eventually(() => expect(callsOf(taken)).toEqual([1]))
  receiver.takeWaiting()
  expect(callsOf(taken)).toEqual([1])
})

const MANY = 20_000
const LONGEST_WORK_MS = 120_000

const threadThatPosts = `
  const { parentPort } = require('node:worker_threads')
  import(${JSON.stringify(new URL('requests.ts', import.meta.url).href)}).then(({ RequestSender }) => {
    const sender = new RequestSender()
    const start = new Int32Array(new SharedArrayBuffer(4))
    parentPort.postMessage({ receiving: sender.receiving, start }, [sender.receiving.port])
    Atomics.wait(start, 0, 0)
    for (let call = 1; call <= ${MANY}; call++) sender.post({ kind: 'extend', call, latestAt: 0, withdrawn: [] })
    sender.close()
  })`

test('requests of a thread arrive once and in order while the main thread takes them in both ways', async () => {
  const thread = new Worker(threadThatPosts, { eval: true })
  atEnd.push(() => thread.terminate())
  const [{ receiving, start }] = (await once(thread, 'message')) as [{ receiving: RequestPort; start: Int32Array }]
  const { receiver, taken } = receive(receiving)
  Atomics.store(start, 0, 1)
  Atomics.notify(start, 0)
  const until = performance.now() + LONGEST_WORK_MS
  while (taken.length < MANY / 2 && performance.now() < until) receiver.takeWaiting() // the event loop waits
  expect(taken.length).toBeGreaterThanOrEqual(MANY / 2)
  await eventually(() => {
    for (let i = 0; i < 1000; i++) receiver.takeWaiting()
    expect(taken).toHaveLength(MANY)
  })
  expect(callsOf(taken)).toEqual(Array.from({ length: MANY }, (_, index) => index + 1))
})
