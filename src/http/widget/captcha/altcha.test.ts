import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { boxKey } from '../../../base/secret-box.ts'
import { type Challenge, Challenges, MAX_NUMBER } from './altcha.ts'

const SECRET = 'a secret of thirty-two characters or more'
const WIDGET = 'abc123def456'
const now = new Date('2026-11-16T10:00:00.400Z')
const challenges = new Challenges(SECRET)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)

function solve({ algorithm, challenge, salt, signature, maxNumber }: Challenge) {
  for (let number = 0; number <= maxNumber; number++) {
    if (sha256(salt + number) === challenge) return { algorithm, challenge, number, salt, signature }
  }
  throw new Error('no number up to maxNumber solves the challenge')
}

const packed = (solution: unknown) => Buffer.from(JSON.stringify(solution)).toString('base64')
const judge = (solution: unknown, at = now) => challenges.judge(WIDGET, packed(solution), at)
const failure = (reason: RegExp) => ({ kind: 'failed', reason: expect.stringMatching(reason) })

describe('a challenge', () => {
  test('has the form of ALTCHA version 1', () => {
    const challenge = challenges.make(WIDGET, now)
    expect(challenge).toEqual({
      algorithm: 'SHA-256',
      challenge: expect.stringMatching(/^[0-9a-f]{64}$/),
      maxNumber: MAX_NUMBER,
      salt: expect.stringMatching(/^[0-9a-f]{24}\?expires=\d+&widget=abc123def456&$/),
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const params = new URLSearchParams(challenge.salt.split('?')[1])
    expect(Number(params.get('expires'))).toBe(Math.floor(now.getTime() / 1000) + 600)
  })

  test('is signed as ALTCHA signs: HMAC-SHA256 of the hash', () => {
    const { challenge, signature } = challenges.make(WIDGET, now)
    const key = boxKey(SECRET, 'captcha challenges')
    expect(signature).toBe(createHmac('sha256', key).update(challenge).digest('hex'))
  })

  test('is another one each time', () => {
    const many = Array.from({ length: 100 }, () => challenges.make(WIDGET, now).salt)
    expect(new Set(many).size).toBe(100)
  })
})

describe('a solution', () => {
  test('passes, and gives the same hash each time, so that the caller can refuse the second use', () => {
    const solution = solve(challenges.make(WIDGET, now))
    const result = judge(solution)
    expect(result).toEqual({
      kind: 'passed',
      use: { hash: Buffer.from(solution.challenge, 'hex'), expiresAt: new Date('2026-11-16T10:10:00Z') },
    })
    expect(judge({ ...solution, took: 12 })).toEqual(result)
  })

  test('passes in every process that has the same secret, and in none with another', () => {
    const payload = packed(solve(challenges.make(WIDGET, now)))
    expect(new Challenges(SECRET).judge(WIDGET, payload, now).kind).toBe('passed')
    expect(new Challenges(`${SECRET}!`).judge(WIDGET, payload, now)).toEqual(failure(/signature/))
  })

  test('is good for ten minutes', () => {
    const solution = solve(challenges.make(WIDGET, now))
    expect(judge(solution, later(599)).kind).toBe('passed')
    expect(judge(solution, later(600))).toEqual(failure(/expired/))
  })

  test('is valid for its own widget only, with any widget id', () => {
    const odd = 'a&widget=abc123def456&b'
    const payload = packed(solve(challenges.make(odd, now)))
    expect(challenges.judge(odd, payload, now).kind).toBe('passed')
    expect(challenges.judge(WIDGET, payload, now)).toEqual(failure(/another widget/))
  })

  test('fails with a wrong number', () => {
    const solution = solve(challenges.make(WIDGET, now))
    expect(judge({ ...solution, number: solution.number + 1 })).toEqual(failure(/number/))
  })

  test('fails when digits move from the number into the salt', () => {
    let solution = solve(challenges.make(WIDGET, now))
    while (!/^\d[1-9]/.test(String(solution.number))) solution = solve(challenges.make(WIDGET, now))
    const digits = String(solution.number)
    const moved = { ...solution, salt: solution.salt + digits[0], number: Number(digits.slice(1)) }
    expect(judge(moved)).toEqual(failure(/salt/))
  })

  test('fails when its time is moved', () => {
    const solution = solve(challenges.make(WIDGET, now))
    const salt = solution.salt.replace(/expires=\d+/, 'expires=99999999999')
    expect(judge({ ...solution, salt }, later(700))).toEqual(failure(/salt was changed/))
  })

  test('fails with a challenge that somebody else made', () => {
    const salt = '0123456789abcdef01234567?expires=99999999999&widget=abc123def456&'
    const own = { algorithm: 'SHA-256', challenge: sha256(`${salt}1`), number: 1, salt, signature: sha256('guess') }
    expect(judge(own)).toEqual(failure(/signature/))
  })

  test('fails with another algorithm', () => {
    const solution = solve(challenges.make(WIDGET, now))
    expect(judge({ ...solution, algorithm: 'SHA-1' })).toEqual(failure(/algorithm/))
  })

  test.each([
    ['', /Base64/],
    ['no base64!', /Base64/],
    ['bm8ganNvbg==', /JSON/],
    [packed(null), /texts algorithm/],
    [packed([]), /texts algorithm/],
    [packed({ algorithm: 'SHA-256', challenge: 'a', salt: 'b', signature: 'c' }), /whole number/],
    [packed({ algorithm: 'SHA-256', challenge: 'a', salt: 'b', signature: 'c', number: '1' }), /whole number/],
    [packed({ algorithm: 'SHA-256', challenge: 'a', salt: 'b', signature: 'c', number: -1 }), /whole number/],
    [packed({ algorithm: 'SHA-256', challenge: 'a', salt: ['b'], signature: 'c', number: 1 }), /texts algorithm/],
    [packed({ algorithm: 'SHA-256', challenge: 'a', salt: 'b', signature: 'é', number: 1 }), /signature/],
    [packed('x'.repeat(4096)), /longer than 4096/],
  ])('%.30s fails with a reason of its own', (payload, reason) => {
    expect(challenges.judge(WIDGET, payload, now)).toEqual(failure(reason))
  })
})
