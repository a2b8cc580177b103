import { expect, test } from 'vitest'
import type { SendResult } from '../../channels/channel.ts'
import { GatewayTally } from './tally.ts'

const at = (text: string) => new Date(`2026-03-01T${text}Z`)

function aTally() {
  const clock = { now: at('10:00:05') }
  const tally = new GatewayTally(7, () => clock.now)
  const send = (result: SendResult, tookMs = 5) => tally.submitted({ parts: 2 }, result, tookMs)
  return { clock, tally, send }
}

test('counts expected and received receipts, and a repeated receipt counts once', () => {
  const { tally, send } = aTally()
  send({ kind: 'accepted', providerIds: ['a', 'b'] })
  send({ kind: 'accepted' })
  send({ kind: 'accepted', delivered: true })
  const receipt = (providerId: string, status: 'DELIVERED' | 'FAILED' | 'READ') => ({ of: { providerId }, status })
  tally.received([receipt('a', 'DELIVERED'), receipt('b', 'FAILED')])
  tally.received([receipt('a', 'DELIVERED'), receipt('c', 'READ')])
  expect(tally.changed()).toMatchObject([{ gatewayId: 7, parts: 6, taken: 3, ended: 2, failed: 1, errors: [] }])
})

test('counts equal errors together, and keeps at most twenty different errors a minute', () => {
  const { tally, send } = aTally()
  send({ kind: 'refused', errorCode: 3, operatorError: '0x45', reason: 'spam' })
  send({ kind: 'refused', errorCode: 3, operatorError: '0x45', reason: 'spam' })
  for (let number = 1; number <= 30; number++) send({ kind: 'busy', reason: `wait ${number} s`, retryAfterMs: 1 })
  const [{ errors }] = tally.changed() as [ReturnType<GatewayTally['changed']>[number]]
  expect(errors).toHaveLength(21)
  expect(errors[0]).toMatchObject({ kind: 'refused', operatorError: '0x45', reason: 'spam', count: 2 })
  expect(errors.at(-1)).toMatchObject({ kind: 'busy', reason: '', count: 11 })
})

test('a minute is written again when it changes, and is forgotten after it is over and written', () => {
  const { clock, tally, send } = aTally()
  send({ kind: 'accepted' })
  const first = tally.changed()
  send({ kind: 'accepted' })
  tally.wrote(first)
  expect(tally.changed()).toMatchObject([{ minute: at('10:00:00'), taken: 2 }])
  clock.now = at('10:01:00')
  send({ kind: 'accepted' })
  expect(tally.changed().map(({ taken }) => taken)).toEqual([2, 1])
  tally.wrote(tally.changed())
  expect(tally.changed()).toEqual([])
})

test('reports the time within which 95 of 100 answers came', () => {
  const { tally, send } = aTally()
  expect(tally.answerMs()).toBeNull()
  for (let ms = 1; ms <= 100; ms++) send({ kind: 'accepted' }, ms)
  expect(tally.answerMs()).toBe(95)
})
