import fastify from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { updateCompany } from '../../domain/companies/companies.ts'
import { keyTypes } from '../../domain/keys/key.ts'
import { activateKey, deactivateKey, reissueKey, restrictKey } from '../../domain/keys/keys.ts'
import { defaultCenter } from '../../domain/traffic-centers/traffic-centers.ts'
import { aCompany, aPartner, type TestPartner } from '../../testing/factories.ts'
import { aKey, useMessagingApi } from '../../testing/messaging-api.ts'
import { acceptJsonBodies } from '../bodies/body.ts'
import type { Context } from '../context.ts'
import { answerError } from '../error-handler.ts'
import { requireKey } from './auth.ts'

/** The authentication by API keys. `GET /balance` accepts keys of all types, so it refuses only wrong keys. */

const api = useMessagingApi()
let partner: TestPartner
let companyId: number

beforeAll(async () => {
  partner = await aPartner(api.sql)
})

beforeEach(async () => {
  companyId = await aCompany(api.sql, partner)
})

const notAuthenticated = { status: 401, body: { error: { code: 4010, msg: 'Not Authenticated' } } }
const badCredentials = { status: 401, body: { error: { code: 4012, msg: 'Bad credentials' } } }
const addressRefused = { status: 401, body: { error: { code: 4013, msg: 'IP not allowed' } } }
const accessDenied = { status: 403, body: { error: { code: 4030, msg: 'Access Denied' } } }

const ask = (headers: Record<string, string> = {}, address?: string) =>
  api.call({ method: 'GET', path: '/balance', headers, ...(address === undefined ? {} : { address }) })
const askWith = (key: string, address?: string) => ask({ authorization: `Bearer ${key}` }, address)

describe('the header', () => {
  test.each(['Bearer', 'Basic', 'bearer', 'BASIC', 'bEaReR'])('takes a key after %s', async scheme => {
    const { key } = await aKey(api.sql, companyId)
    expect(await ask({ authorization: `${scheme} ${key}` })).toMatchObject({ status: 200, body: { RUB: 0 } })
    expect(await ask({ authorization: `${scheme}   ${key}` })).toMatchObject({ status: 200 })
  })

  test('that is absent is 4010', async () => {
    expect(await ask()).toMatchObject(notAuthenticated)
  })

  test.each(['', 'Bearer', 'Basic ', 'Digest abc', 'Bearer a b', 'Bearerabc', 'Token abc', 'abc'])(
    'that reads "%s" is 4012',
    async authorization => {
      expect(await ask({ authorization })).toMatchObject(badCredentials)
    },
  )

  test('with the bare value of a key, without a scheme, is 4012', async () => {
    const { key } = await aKey(api.sql, companyId)
    expect(await ask({ authorization: key })).toMatchObject(badCredentials)
  })

  test.each(['Bearer', 'Basic'])('takes the value after %s as it is, and decodes nothing', async scheme => {
    const { key } = await aKey(api.sql, companyId)
    const plain = Buffer.from(key, 'base64').toString()
    const twice = Buffer.from(key).toString('base64')
    for (const other of [plain, twice, key.replace(/=*$/, '*'), `"${key}"`]) {
      expect(await ask({ authorization: `${scheme} ${other}` }), other).toMatchObject(notAuthenticated)
    }
  })
})

describe('a key is refused with 4010', () => {
  test('that does not exist', async () => {
    expect(await askWith('bm9ib2R5OmF0IGFsbA==')).toMatchObject(notAuthenticated)
  })

  test('as soon as it is deactivated, and taken again as soon as it is activated', async () => {
    const { keyId, key } = await aKey(api.sql, companyId)
    expect(await askWith(key)).toMatchObject({ status: 200 })
    await deactivateKey(api.sql, companyId, keyId)
    expect(await askWith(key)).toMatchObject(notAuthenticated)
    await activateKey(api.sql, companyId, keyId)
    expect(await askWith(key)).toMatchObject({ status: 200 })
  })

  test('in its old value as soon as it is reissued', async () => {
    const { keyId, key } = await aKey(api.sql, companyId)
    expect(await askWith(key)).toMatchObject({ status: 200 })
    const reissued = await reissueKey(api.sql, companyId, keyId)
    expect(await askWith(key)).toMatchObject(notAuthenticated)
    expect(await askWith(reissued.key)).toMatchObject({ status: 200 })
  })

  test('while its company is disabled', async () => {
    const { key } = await aKey(api.sql, companyId)
    await updateCompany(api.sql, partner, companyId, { status: 'DISABLED' })
    expect(await askWith(key)).toMatchObject(notAuthenticated)
    await updateCompany(api.sql, partner, companyId, { status: 'ACTIVE' })
    expect(await askWith(key)).toMatchObject({ status: 200 })
  })

  test("that is a partner's token", async () => {
    expect(await askWith(partner.token)).toMatchObject(notAuthenticated)
  })

  test('also from an address outside of its list: what does not work tells nothing about itself', async () => {
    const { keyId, key } = await aKey(api.sql, companyId, 'MESSAGE', { addresses: ['192.0.2.1'] })
    await deactivateKey(api.sql, companyId, keyId)
    expect(await askWith(key, '198.51.100.1')).toMatchObject(notAuthenticated)
  })
})

describe('a key with a list of addresses', () => {
  const addresses = ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32']

  test.each(['192.0.2.7', '198.51.100.200', '::ffff:192.0.2.7', '2001:db8:1::1'])('is taken from %s', async address => {
    const { key } = await aKey(api.sql, companyId, 'ENTITY', { addresses })
    expect(await askWith(key, address)).toMatchObject({ status: 200 })
  })

  test.each(['192.0.2.8', '203.0.113.1', '::ffff:192.0.2.8', '2001:db9::1'])('is 4013 from %s', async address => {
    const { key } = await aKey(api.sql, companyId, 'ENTITY', { addresses })
    expect(await askWith(key, address)).toMatchObject(addressRefused)
  })

  test('is measured by the list as it is now', async () => {
    const { keyId, key } = await aKey(api.sql, companyId)
    expect(await askWith(key, '203.0.113.1')).toMatchObject({ status: 200 })
    await restrictKey(api.sql, companyId, keyId, addresses)
    expect(await askWith(key, '203.0.113.1')).toMatchObject(addressRefused)
    await restrictKey(api.sql, companyId, keyId, [])
    expect(await askWith(key, '203.0.113.1')).toMatchObject({ status: 200 })
  })
})

describe('a section', () => {
  /** A face with a route for each type of key, and requests to it whose body cannot be read. */
  async function useSections() {
    const app = fastify()
    app.setErrorHandler(answerError)
    acceptJsonBodies(app)
    for (const type of keyTypes) {
      await app.register(async section => {
        requireKey(section, { sql: api.sql } as Context, type)
        section.post(`/${type}`, async () => 'let in')
      })
    }
    return (section: string, key: string, address = '127.0.0.1') =>
      app.inject({
        method: 'POST',
        url: `/${section}`,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        payload: '{"broken',
        remoteAddress: address,
      })
  }

  test('lets in its own types of keys and refuses every other with 4030, before the body is looked at', async () => {
    const post = await useSections()
    for (const type of keyTypes) {
      const { key } = await aKey(api.sql, companyId, type)
      for (const section of keyTypes) {
        const answer = await post(section, key)
        if (section === type) expect(answer.statusCode, 'the body is broken').toBe(400)
        else expect({ status: answer.statusCode, body: answer.json() }).toEqual(accessDenied)
      }
    }
  })

  test('does not tell a client with a wrong address that the type of its key is wrong too', async () => {
    const post = await useSections()
    const { key } = await aKey(api.sql, companyId, 'ENTITY', { addresses: ['192.0.2.1'] })
    const answer = await post('MESSAGE', key, '198.51.100.1')
    expect({ status: answer.statusCode, body: answer.json() }).toEqual(addressRefused)
  })

  test('knows on whose behalf it is called', async () => {
    const app = fastify()
    await app.register(async section => {
      requireKey(section, { sql: api.sql } as Context, 'MESSAGE', 'ENTITY')
      section.get('/', async request => request.caller)
    })
    const callerWith = async (key: string) =>
      (await app.inject({ url: '/', headers: { authorization: `Bearer ${key}` } })).json()

    const message = await aKey(api.sql, companyId, 'MESSAGE')
    const { centerId } = await defaultCenter(api.sql, companyId)
    expect(await callerWith(message.key)).toEqual({
      companyId,
      keyId: message.keyId,
      trafficCenterId: centerId,
      type: 'MESSAGE',
    })
    const entity = await aKey(api.sql, companyId, 'ENTITY')
    expect(await callerWith(entity.key)).toEqual({
      companyId,
      keyId: entity.keyId,
      trafficCenterId: null,
      type: 'ENTITY',
    })
  })
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
