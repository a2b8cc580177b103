import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../base/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for comparing repeated requests. */
    rawBody: Buffer | undefined
  }
}

/**
 * JSON bodies. An empty one counts as none, so that a POST without a body may carry a JSON content type. Text that
 * PostgreSQL cannot keep (a NUL, half of a surrogate pair) is refused at the door.
 */
export function acceptJsonBodies(app: FastifyInstance) {
  app.decorateRequest('rawBody', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    request.rawBody = body
    return parseJson(body)
  })
}

export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw invalid('body: must be UTF-8')
  const text = body.toString('utf8')
  const value = parse(text)
  if (mayHideBadText.test(text)) refuseBadText(value)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('body: must be JSON')
  }
}

/** Bad characters can stand in JSON only as escapes: without one of these there is nothing to look for. */
const mayHideBadText = /\\u(?:0000|[dD][89a-fA-F])/

/** Looks at every text of a body. Without recursion: a body may be nested deeper than the stack. */
function refuseBadText(body: unknown): void {
  const waiting: { value: unknown; path: string }[] = [{ value: body, path: '' }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path } = next
    if (typeof value === 'string') refuseBadString(value, path)
    else if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) waiting.push({ value: item, path: `${path}[${i}]` })
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) {
        refuseBadString(key, path)
        waiting.push({ value: item, path: path ? `${path}.${key}` : key })
      }
    }
  }
}

function refuseBadString(text: string, path: string) {
  if (text.includes('\0') || !text.isWellFormed()) throw invalid(`${path || 'body'}: has a character that is no text`)
}
