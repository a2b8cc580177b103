import { describe, expect, test } from 'vitest'
import { CompanyBudget, Effort } from './effort.ts'

describe('the effort of a request', () => {
  const allowance = { base: 1000, perCharacter: 10, most: 5000 }

  test('is bounded by a fixed number of steps and so many for each character', () => {
    const effort = new Effort(allowance)
    effort.begin(100)
    effort.steps = 2000
    effort.check()
    effort.steps = 2001
    expect(() => effort.check()).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })

  test('is bounded in all, however long the texts are', () => {
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

  test('once overdrawn refuses every request until it is filled up again, and says when to come again', () => {
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

  test('is never saved up beyond ten seconds', () => {
    let nowMs = 0
    const budget = new CompanyBudget(() => nowMs)
    nowMs = 3_600_000
    const heavy = new Effort(allowance, budget)
    heavy.steps = 200_000_001
    expect(() => heavy.check()).toThrow(expect.objectContaining({ kind: 'too_many_requests' }))
  })
})
