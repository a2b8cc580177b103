import { expect, test } from 'vitest'
import { newDraft, type When } from './draft.ts'
import { estimateOf } from './estimate.tsx'
import { checkedBy, type Offer } from './offer.ts'
import type { Report } from './recipients/reading/tasks.ts'

/** Monday, 18:00 in Moscow. */
const now = new Date('2026-11-16T15:00:00Z')
const HOURS = 3

function estimate(when: Partial<When>, speeds: Offer['speeds'] = {}) {
  const draft = newDraft(1)
  const report = { parts: HOURS * 3600 } as Report
  const checked = { ...draft, checked: { of: checkedBy(draft), report } }
  return estimateOf({ ...checked, when: { ...draft.when, ...when } }, { speeds } as Offer, now)
}

const daytime = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]

test('the end is estimated by the speed, and is later if the sending hours interrupt the dispatch', () => {
  const sendingSeconds = HOURS * 3600
  expect(estimate({ rate: 1 })).toEqual({
    kind: 'ends',
    sendingSeconds,
    endsAt: new Date('2026-11-16T18:00:00Z'),
    isHeldByHours: false,
  })
  const nextDay = { kind: 'ends', sendingSeconds, endsAt: new Date('2026-11-17T08:00:00Z'), isHeldByHours: true }
  expect(estimate({ rate: 1, hours: daytime })).toEqual(nextDay)
  expect(estimate({ rate: 10, hours: daytime }, { SMS: 1 })).toEqual(nextDay)
})

test('without a known speed the estimate has only the start, and an end that is too early is reported', () => {
  expect(estimate({ startAt: '2026-11-17T08:00', hours: daytime })).toEqual({
    kind: 'begins',
    beginsAt: new Date('2026-11-17T07:00:00Z'),
  })
  expect(estimate({ rate: 1, endAt: '2026-11-16T20:00' })?.kind).toBe('cut')
})
