import { expect, test } from 'vitest'
import type { StatusChange } from '../messages/messages.ts'
import { partnerCallbacks } from './partner-callbacks.ts'
import type { DispatchSummary } from './store.ts'

const [SENT_AT, END_AT] = [new Date('2026-07-01T12:00:00Z'), new Date('2026-07-01T12:00:05Z')]

const aDispatch = (given: Partial<DispatchSummary> = {}): DispatchSummary => ({
  dispatchId: 1,
  status: 'STARTED',
  api: 'partner',
  callbackUrl: 'https://shop.example/events',
  callbackEvents: ['sent', 'delivered', 'failed'],
  channelType: 'SMS',
  trafficType: 'PROMO',
  ...given,
})

const aChange = (given: Partial<StatusChange> = {}): StatusChange => ({
  uuid: '01900000-0000-7000-8000-000000000001',
  dispatchId: 1,
  position: 0,
  parts: 1,
  price: 0n,
  tariffId: null,
  brandId: 1,
  destination: '79160000001',
  channelType: null,
  trafficType: null,
  isFollowed: false,
  from: 'SENT',
  to: 'DELIVERED',
  at: END_AT,
  errorCode: null,
  sent: true,
  sentAt: null,
  ...given,
})

function eventsOf(change: StatusChange, dispatch = aDispatch()) {
  const events = partnerCallbacks([change], new Map([[dispatch.dispatchId, dispatch]]))
  return events.map(({ event }) => [event.event, event.at])
}

test('a message that goes straight to its final status gives both events, first the sending', () => {
  expect(eventsOf(aChange({ from: 'CREATED', sentAt: SENT_AT }))).toEqual([
    ['sent', SENT_AT],
    ['delivered', END_AT],
  ])
  expect(eventsOf(aChange())).toEqual([['delivered', END_AT]])
})

test('a message that was refused before it was sent gives its failure only', () => {
  expect(eventsOf(aChange({ from: 'CREATED', to: 'FAILED', sent: false }))).toEqual([['failed', END_AT]])
})

test('only the events that the dispatch asked for are written, and none without an address or for the other API', () => {
  const change = aChange({ from: 'CREATED', sentAt: SENT_AT })
  expect(eventsOf(change, aDispatch({ callbackEvents: ['sent'] }))).toEqual([['sent', SENT_AT]])
  expect(eventsOf(change, aDispatch({ callbackUrl: null }))).toEqual([])
  expect(eventsOf(change, aDispatch({ api: 'messaging' }))).toEqual([])
  expect(eventsOf(aChange({ dispatchId: null }))).toEqual([])
})
