import { describe, expect, test } from 'vitest'
import { networkOf } from '../../base/network/networks.ts'
import { defaultLimits } from '../verifiers/verifier.ts'
import {
  block,
  countOne,
  isToBeJudged,
  judgePrefix,
  type Rule,
  rulesFor,
  type SubjectState,
  sendableAt,
} from './guard.ts'
import type { NewCode } from './verification.ts'

const START = new Date('2026-05-01T12:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const after = (ms: number, from = START) => new Date(from.getTime() + ms)

const hourly = (most: number, subject = 'company'): Rule => ({ subject, most, windowMs: HOUR_MS, pauseMs: 0 })
const ofNumber: Rule = { subject: 'number:79161234567', most: 100, windowMs: DAY_MS, pauseMs: MINUTE_MS }

const counted = (rule: Rule, times: number, now = START, state?: SubjectState) => {
  let next = state
  for (let i = 0; i < times; i++) next = countOne(rule, next, now)
  return next!
}

describe('the pause of a number', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [6, 32],
    [7, 60],
    [99, 60],
  ])('after %d codes that were not confirmed is %d minutes', (codes, minutes) => {
    const state = counted(ofNumber, codes)
    expect(sendableAt(ofNumber, state, START)).toEqual(after(minutes * MINUTE_MS))
  })

  test('of a verifier with a long pause is never shorter than that', () => {
    const rule = { ...ofNumber, pauseMs: 2 * HOUR_MS }
    expect(sendableAt(rule, counted(rule, 5), START)).toEqual(after(2 * HOUR_MS))
  })
})

describe('a subject with too many codes', () => {
  test('is blocked until its window ends, and counts anew then', () => {
    const rule = hourly(3)
    const state = countOne(rule, counted(rule, 2), after(20 * MINUTE_MS))
    expect(state.blockedUntil).toEqual(after(HOUR_MS))
    expect(sendableAt(rule, state, after(HOUR_MS))).toEqual(after(HOUR_MS))
    expect(countOne(rule, state, after(HOUR_MS)).count).toBe(1)
  })

  test('is blocked for longer every time, a day at most', () => {
    const rule = hourly(1)
    let now = START
    let state: SubjectState | undefined
    const hours: number[] = []
    for (let i = 0; i < 8; i++) {
      state = countOne(rule, state, now)
      hours.push((state.blockedUntil!.getTime() - now.getTime()) / HOUR_MS)
      now = state.blockedUntil!
    }
    expect(hours).toEqual([1, 2, 4, 8, 16, 24, 24, 24])
  })

  test('starts with short blocks again a day after its last block, though codes were sent all the time', () => {
    const rule = hourly(3)
    const state = counted(rule, 3)
    let now = state.blockedUntil!
    let next = state
    for (let hour = 0; hour < 30; hour++) {
      now = after(HOUR_MS, now)
      next = counted(rule, 2, now, next)
    }
    const again = countOne(rule, next, now)
    expect(again).toMatchObject({ blocks: 1, blockedUntil: after(HOUR_MS, now) })
  })

  test('is not let go by a clock that goes back', () => {
    const state = counted(hourly(3), 3)
    expect(sendableAt(hourly(3), state, after(-DAY_MS))).toEqual(state.blockedUntil)
  })
})

describe('a prefix', () => {
  const rule = hourly(1000, 'prefix:7916123')
  const share = (sent: number, confirmed: number) => ({ prefix: '7916123', sent, confirmed })
  const state = counted(rule, 30)

  test.each([
    [29, false],
    [30, true],
    [31, false],
    [40, true],
  ])('with %d codes is judged: %s', (codes, isJudged) => {
    expect(isToBeJudged(counted(rule, codes), START)).toBe(isJudged)
  })

  test('is judged again after an earlier block', () => {
    const blocked = block(state, after(HOUR_MS), START, 'test')
    const now = after(2 * HOUR_MS)
    expect(isToBeJudged(counted(rule, 30, now, blocked), now)).toBe(true)
  })

  test.each([
    ['too few codes had their time', share(29, 0), null],
    ['enough were confirmed', share(30, 3), null],
    ['hardly any was confirmed', share(30, 2), '2 of 30 codes confirmed'],
  ])('where %s', (_, given, reason) => {
    expect(judgePrefix(state, given, 0.1, START).reason).toBe(reason)
  })

  test('of a verifier that does not watch the share is never blocked by it', () => {
    expect(judgePrefix(state, share(1000, 0), 0, START).blockedUntil).toBeNull()
  })
})

describe('the address of an end user', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  test('counts in all its spellings alike', () => {
    const subjectsFor = (clientAddress: string) =>
      rulesFor('79161234567', {
        clientAddress,
        prefix: '7916123',
        verifierId: 'abcdef',
        pauseSeconds: 60,
        limits: defaultLimits,
      } as NewCode)
        .map(({ subject }) => subject)
        .filter(subject => subject.startsWith('address:'))
    expect(subjectsFor('2001:db8::5')).toEqual(subjectsFor('2001:0DB8:0:0:ffff::1'))
  })
})
