import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../base/errors.ts'
import { isAllowed } from '../../domain/keys/address-list.ts'
import type { FoundKey, Key, KeyType } from '../../domain/keys/key.ts'
import { keyFinder } from '../../domain/keys/keys.ts'
import type { Context } from '../context.ts'

/** The company and API key of a request. */
export type Caller = Pick<Key, 'companyId' | 'keyId' | 'trafficCenterId' | 'type'>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireKey`. */
    caller: Caller
    /** The API key of a request, even if the request was refused. */
    usedKey: Pick<Key, 'companyId' | 'keyId'> | undefined
  }
}

/** For the reference: a client may use either scheme. Bearer is last, because clients made by @hey-api/openapi-ts use the last one. */
export const securitySchemes = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The same key for programs that ask for a user and a password: it is the Base64 of both.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'Your API key, as it was printed.' },
}

/**
 * Accepts in this scope only requests with a key of one of these types, checked before the body is read. Call it before
 * the routes of the scope are added, so that the reference describes it.
 */
export function requireKey(api: FastifyInstance, context: Context, ...types: KeyType[]) {
  const findCaller = callerFinder(context, types)
  describeKeys(api, types)
  api.addHook('onRequest', async request => {
    request.caller = await findCaller(request)
  })
}

/** Finds the company of a request by its key. Throws if the key is missing, unknown or of another type. */
export function callerFinder({ sql }: Context, types: readonly KeyType[]) {
  const findKey = keyFinder(sql)
  return async (request: FastifyRequest): Promise<Caller> => {
    const key = await findKey(valueIn(request.headers.authorization))
    request.usedKey = key
    return callerOf(key, request, types)
  }
}

/** Adds to the reference the types of keys that the routes of this scope accept. */
export function describeKeys(api: FastifyInstance, types: readonly KeyType[]) {
  api.decorateRequest('caller')
  api.addHook('onRoute', route => {
    const description = [route.schema?.description, inWords(types)].filter(Boolean).join('\n\n')
    route.schema = {
      security: Object.keys(securitySchemes).map(name => ({ [name]: [] })),
      ...route.schema,
      description,
    }
  })
}

const inWords = (types: readonly KeyType[]) => `Takes a key of the type ${types.join(' or ')}.`

function callerOf(key: FoundKey | undefined, request: FastifyRequest, types: readonly KeyType[]): Caller {
  refuseUnusable(key)
  refuseAddress(key, request.ip ?? '') // a closed connection has no address
  refuseType(key, types)
  const { companyId, keyId, trafficCenterId, type } = key
  return { companyId, keyId, trafficCenterId, type }
}

/** With both schemes the value itself is the key: Base64 is not decoded. */
function valueIn(header: string | undefined): string {
  if (header === undefined) throw notAuthenticated()
  const match = /^(?:bearer|basic) +(\S+) *$/i.exec(header)
  if (!match) throw new AppError('bad_credentials', 'Bad credentials')
  return match[1]!
}

function refuseUnusable(key: FoundKey | undefined): asserts key is FoundKey {
  if (!key?.active || key.companyStatus === 'DISABLED') throw notAuthenticated()
}

function refuseAddress({ addresses }: FoundKey, address: string) {
  if (!isAllowed(addresses, address)) throw new AppError('address_not_allowed', 'IP not allowed')
}

function refuseType({ type }: FoundKey, types: readonly KeyType[]) {
  if (!types.includes(type)) throw new AppError('access_denied', 'Access Denied')
}

const notAuthenticated = () => new AppError('not_authenticated', 'Not Authenticated')
