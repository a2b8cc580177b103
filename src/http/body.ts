import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../base/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for comparing repeated requests. */
    rawBody: Buffer | undefined
  }
}

export const KIB = 1024
export const MIB = 1024 * KIB

/** How large a body may be. A route that is not named here takes what any form filled in by hand would need. */
export const bodyLimits = { usual: MIB, token: 16 * KIB, messages: 16 * MIB, recipients: 32 * MIB }

export const tooLargeFor = (limitBytes: number) =>
  new AppError('too_large', `The request body is larger than ${inWords(limitBytes)}`)

const inWords = (sizeBytes: number) => (sizeBytes < MIB ? `${sizeBytes / KIB} KiB` : `${sizeBytes / MIB} MiB`)

/**
 * JSON bodies. An empty one counts as none, whatever its content type says. Text that PostgreSQL cannot keep (a NUL,
 * half of a surrogate pair) is refused at the door.
 */
export function acceptJsonBodies(app: FastifyInstance) {
  app.decorateRequest('rawBody', undefined)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', ({ headers }, _, done) => {
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
    if (isEmpty) delete headers['content-type']
    done()
  })
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

/**
 * Bad characters can stand in JSON only as escapes: without one of these there is nothing to look for. A pair of
 * surrogates is none, unless a backslash before it leaves open whether its first half is an escape at all.
 */
const mayHideBadText =
  /\\u(?:0000|[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|[dD][c-fC-F](?<![^\\]\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]))/

/** A list or object that is being looked through, and how far. */
type Visit = { values: Record<string | number, unknown>; keys: string[] | undefined; size: number; next: number }

/** Looks at every text of a body. Without recursion: a body may be nested deeper than the stack. */
function refuseBadText(body: unknown): void {
  const way = [visitOf([body])]
  for (let visit = way.at(-1); visit; visit = way.at(-1)) {
    if (visit.next === visit.size) {
      way.pop()
      continue
    }
    const key = keyAt(visit, visit.next++)
    const value = visit.values[key]
    if (isBad(key)) throw noText(way.slice(0, -1))
    if (isBad(value)) throw noText(way)
    if (typeof value === 'object' && value !== null) way.push(visitOf(value))
  }
}

function visitOf(container: object): Visit {
  const keys = Array.isArray(container) ? undefined : Object.keys(container)
  return { values: container as Visit['values'], keys, size: (keys ?? (container as unknown[])).length, next: 0 }
}

const keyAt = ({ keys }: Visit, place: number) => keys?.[place] ?? place

const isBad = (value: unknown) => typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())

const DEEPEST_NAMED = 20

function noText(way: Visit[]) {
  const path = way
    .slice(1, DEEPEST_NAMED)
    .map(visit => keyAt(visit, visit.next - 1))
    .reduce<string>((so, key) => (typeof key === 'number' ? `${so}[${key}]` : so ? `${so}.${key}` : key), '')
  return invalid(`${path || 'body'}: has a character that is no text`)
}
