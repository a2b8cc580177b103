import { expect, test } from 'vitest'
import { FAILURES_UNTIL_PROBE } from '../../domain/callbacks/callback.ts'
import { chainsOf } from './chains.ts'
import {
  type CallbackRequest,
  newSession,
  type OpenBatch,
  openBatch,
  recordAccepted,
  recordRefused,
} from './session.ts'

const newcomer = () => newSession({ companyId: 1, receiver: 'http://hooks.example', failures: 0 }, 0, 0)

let lastId = 0
function aBatch(api: OpenBatch['api'], messageUuids: string[], url = 'http://hooks.example/a'): OpenBatch {
  const batch = {
    companyId: 1,
    callbackId: ++lastId,
    url,
    api,
    events: messageUuids.map(messageUuid => ({ messageUuid })),
    done: messageUuids.map(() => false),
    held: new Set<string>(),
    expiresAt: new Date(),
  } as unknown as OpenBatch
  return openBatch(batch, newcomer(), () => '')
}

/** Each chain as a list of requests, each request as the ids of its messages. */
const shown = (batches: OpenBatch[], holders = new Map<string, number>()) =>
  chainsOf(batches, holders).map(chain => chain.map(request => request.map(({ messageUuid }) => messageUuid).join(' ')))

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`)

test('the partner API has a chain for each message and a request for each event', () => {
  expect(shown([aBatch('partner', ['a', 'b']), aBatch('partner', ['a'])])).toEqual([['a', 'a'], ['b']])
})

test('the messaging API has an array for each address, and all events of a message from several batches are in one array', () => {
  const other = 'http://hooks.example/b'
  const batches = [
    aBatch('messaging', ['a', 'b']),
    aBatch('messaging', ['c'], other),
    aBatch('messaging', ['d', 'a']),
    aBatch('messaging', ['c'], other),
  ]
  expect(shown(batches)).toEqual([['a a b d'], ['c c']])
})

test('an array has at most 100 events, and the events of a message are not divided', () => {
  const batches = [aBatch('messaging', numbered(150)), aBatch('messaging', numbered(150))]
  const arrays = shown(batches).map(([array]) => array!.split(' '))
  expect(arrays.map(array => array.length)).toEqual([100, 100, 100])
  const places = arrays.flatMap((array, i) => [...new Set(array)].map(message => [message, i] as const))
  expect(places).toHaveLength(150)
})

test('a message with more events than fit into an array is sent event by event', () => {
  const chains = shown([aBatch('messaging', ['b', ...Array(101).fill('a'), 'c'])])
  expect(chains).toEqual([['b c'], Array(101).fill('a')])
})

test('a message that was refused before is sent alone, event by event', () => {
  const first = aBatch('messaging', ['a', 'b', 'c'])
  first.held.add('a')
  expect(shown([first, aBatch('messaging', ['a', 'd'])])).toEqual([['a', 'a'], ['b c d']])
})

test('the events of a message keep their order, also with both formats or two addresses', () => {
  const batches = [
    aBatch('messaging', ['a', 'x']),
    aBatch('partner', ['a']),
    aBatch('messaging', ['b']),
    aBatch('messaging', ['b'], 'http://hooks.example/b'),
  ]
  expect(shown(batches)).toEqual([['a', 'a'], ['x'], ['b', 'b']])
})

test('accepted events are left out, and messages postponed in an earlier batch are postponed', () => {
  const batch = aBatch('messaging', ['a', 'b', 'c'])
  batch.done[2] = true
  expect(shown([batch], new Map([['a', batch.callbackId - 1]]))).toEqual([['b']])
  expect(batch).toMatchObject({ refused: true, held: new Set(['a']) })
})

test('a receiver is paused after 20 refusals in a row, and one accepted request ends the pause', () => {
  const session = newcomer()
  const request: CallbackRequest = [{ batch: aBatch('messaging', ['a']), index: 0, messageUuid: 'a' }]
  const refuse = () => recordRefused(session, request, { kind: 'answered', statusCode: 503, answer: '' }, 1)
  for (let i = 1; i < FAILURES_UNTIL_PROBE; i++) refuse()
  expect(session.paused).toBe(false)
  refuse()
  expect(session.paused).toBe(true)
  recordAccepted(session, request, { kind: 'answered', statusCode: 200, answer: '' }, 1)
  expect(session).toMatchObject({ paused: false, failures: 0 })
})
