import { describe, expect, test } from 'vitest'
import { CompanyBudget, Effort } from './effort.ts'

describe('the effort of a request', () => {
  const allowance = { base: 1000, perCharacter: 10, most: 5000 }

  test('is limited by a fixed number of steps plus a number for each character', () => {
    const effort = new Effort(allowance)
    effort.begin(100)
    effort.steps = 2000
    effort.check()
    effort.steps = 2001
    expect(() => effort.check()).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  test('has a limit that does not depend on the length of the texts', () => {
    const effort = new Effort(allowance)
    effort.begin(4999)
    effort.steps = 5000
    effort.check()
    effort.steps = 5001
    expect(() => effort.check()).toThrow('takes too long')
  })
})

describe('the budget of a company', () => {
  const allowance = { base: 1e12, perCharacter: 0, most: 1e12 }

  test('refuses every request after it is overdrawn, until it is filled up again, and says when to retry', () => {
    let nowMs = 0
    const budget = new CompanyBudget(() => nowMs)
    const heavy = new Effort(allowance, budget)
    heavy.steps = 200_000_000
    heavy.check()
    heavy.steps = 250_000_000
    expect(() => heavy.check()).toThrow(expect.objectContaining({ kind: 'too_many_requests', retryAfterSeconds: 3 }))
    expect(() => new Effort(allowance, budget)).toThrow('send more slowly')
    nowMs = 2400
    expect(() => new Effort(allowance, budget)).toThrow('send more slowly')
    nowMs = 2500
    new Effort(allowance, budget).check()
  })

  test('never saves more than ten seconds', () => {
    let nowMs = 0
    const budget = new CompanyBudget(() => nowMs)
    nowMs = 3_600_000
    const heavy = new Effort(allowance, budget)
    heavy.steps = 200_000_001
    expect(() => heavy.check()).toThrow(expect.objectContaining({ kind: 'too_many_requests' }))
  })
})
