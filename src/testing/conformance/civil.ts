import { expect } from 'vitest'
import type { Answer } from '../api.ts'

/** Internal details that no answer may contain. */
const insides = /\bat \S+ \(|\.ts:\d|node_modules|PostgresError|syntax error at|relation "|insert into|select .* from/i

const NO_WIDGET_KEY = 320

/** Expects a success, or `{error}` with the 4xx status of its code, and no internal detail. */
export function expectCivil({ status, body, text }: Pick<Answer, 'status' | 'body' | 'text'>) {
  expect(status).toBeLessThan(500)
  expect(text).not.toMatch(insides)
  if (status < 300) return expect(body).not.toHaveProperty('error')
  expect(body).toEqual({ error: { code: expect.any(Number), msg: expect.stringMatching(/\S/) } })
  // Messages and the widget have their own code numbers.
  if (body.error.code === NO_WIDGET_KEY) return expect(status).toBe(400)
  if (body.error.code < 6000) expect(Math.floor(body.error.code / 10)).toBe(status)
}
