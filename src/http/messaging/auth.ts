import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../base/errors.ts'
import { isAllowed } from '../../domain/keys/address-list.ts'
import type { FoundKey, Key, KeyType } from '../../domain/keys/key.ts'
import { keyFinder } from '../../domain/keys/keys.ts'
import type { Context } from '../context.ts'

/** On whose behalf a request is made. */
export type Caller = Pick<Key, 'companyId' | 'keyId' | 'trafficCenterId' | 'type'>

declare module 'fastify' {
  interface FastifyRequest {
    /** Behind `requireKey` only. */
    caller: Caller
    /** The key that a request came with, also where the request was refused. */
    usedKey: Pick<Key, 'companyId' | 'keyId'> | undefined
  }
}

/** For the reference: either will do. Bearer is last, for clients made by @hey-api/openapi-ts use the last one. */
export const securitySchemes = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The same key for programs that ask for a user and a password: it is the Base64 of both.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'Your API key, as it was printed.' },
}

/**
 * Lets into this scope only requests with a key of one of these types, before their body is read. To be called before
 * the routes of the scope are made, so that the reference tells of it.
 */
export function requireKey(api: FastifyInstance, context: Context, ...types: KeyType[]) {
  const findCaller = callerFinder(context, types)
  describeKeys(api, types)
  api.addHook('onRequest', async request => {
    request.caller = await findCaller(request)
  })
}

/** Finds out on whose behalf a request is made; throws where its key is missing, unknown or not of these types. */
export function callerFinder({ sql }: Context, types: readonly KeyType[]) {
  const findKey = keyFinder(sql)
  return async (request: FastifyRequest): Promise<Caller> => {
    const key = await findKey(valueIn(request.headers.authorization))
    request.usedKey = key
    return callerOf(key, request, types)
  }
}

/** Tells the reference which keys the routes of this scope take. */
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
  refuseAddress(key, request.ip ?? '') // a client that is gone has none
  refuseType(key, types)
  const { companyId, keyId, trafficCenterId, type } = key
  return { companyId, keyId, trafficCenterId, type }
}

/** Whichever scheme it comes with, the value is taken as it is: Base64 is not decoded. */
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
