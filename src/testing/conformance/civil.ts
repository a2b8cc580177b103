import { expect } from 'vitest'
import type { Answer } from '../api.ts'

/** What no answer may tell. */
const insides = /\bat \S+ \(|\.ts:\d|node_modules|PostgresError|syntax error at|relation "|insert into|select .* from/i

const NO_WIDGET_KEY = 320

/** A success, or `{error}` with a 4xx that its code belongs to; never a word about our insides. */
export function expectCivil({ status, body, text }: Pick<Answer, 'status' | 'body' | 'text'>) {
  expect(status).toBeLessThan(500)
  expect(text).not.toMatch(insides)
  if (status < 300) return expect(body).not.toHaveProperty('error')
  expect(body).toEqual({ error: { code: expect.any(Number), msg: expect.stringMatching(/\S/) } })
  // Codes of messages and of the widget are numbers of their own.
  if (body.error.code === NO_WIDGET_KEY) return expect(status).toBe(400)
  if (body.error.code < 6000) expect(Math.floor(body.error.code / 10)).toBe(status)
}
