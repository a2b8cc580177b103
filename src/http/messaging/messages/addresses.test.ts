import { beforeAll, describe, expect, test } from 'vitest'
import { aCompany, aPartner } from '../../../testing/factories.ts'
import { aKey, type TestMessagingApi, useMessagingApi } from '../../../testing/messaging-api.ts'

/**
 * Whose address counts, over real sockets. The tests call from 127.0.0.1: for one service that is a proxy it trusts,
 * for the other it is not, although it trusts one elsewhere; the third listens on IPv6 and IPv4 at once.
 */

const CLIENT = '203.0.113.9'
const PROXY = '198.51.100.20'

type Side = { url: string; keyFor(...addresses: string[]): Promise<string> }

async function open(api: TestMessagingApi, host: string): Promise<Side> {
  const companyId = await aCompany(api.sql, await aPartner(api.sql))
  return {
    url: await api.listen(host),
    keyFor: async (...addresses) => (await aKey(api.sql, companyId, 'VERIFIER', { addresses })).key,
  }
}

async function codeOf({ url }: Side, key: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${url}/api/v1/balance`, {
    headers: { authorization: `Basic ${key}`, ...headers },
    signal: AbortSignal.timeout(60_000),
  })
  const body = (await answer.json()) as { error?: { code: number } }
  return body.error?.code ?? answer.status
}

const forwarded = (...addresses: string[]) => ({ 'x-forwarded-for': addresses.join(', ') })

describe('behind a trusted proxy', () => {
  const api = useMessagingApi({ trustedProxies: ['127.0.0.1', '198.51.100.0/24'] })
  let side: Side
  beforeAll(async () => {
    side = await open(api, '127.0.0.1')
  })

  test('the address that it forwards counts, and its own does not', async () => {
    const key = await side.keyFor(CLIENT)
    expect(await codeOf(side, key, forwarded(CLIENT))).toBe(200)
    expect(await codeOf(side, key, forwarded('203.0.113.10'))).toBe(4013)
    expect(await codeOf(side, await side.keyFor('127.0.0.1'), forwarded(CLIENT))).toBe(4013)
  })

  test('several proxies are looked through, up to the first that is not trusted', async () => {
    const key = await side.keyFor(CLIENT)
    expect(await codeOf(side, key, forwarded(CLIENT, PROXY))).toBe(200)
    expect(await codeOf(side, key, forwarded('192.0.2.1', CLIENT, PROXY))).toBe(200)
  })

  test('what the client itself claims to forward for is not believed', async () => {
    const key = await side.keyFor(CLIENT)
    expect(await codeOf(side, key, forwarded(CLIENT, '192.0.2.66'))).toBe(4013)
    expect(await codeOf(side, key, forwarded(CLIENT, '192.0.2.66', PROXY))).toBe(4013)
  })

  test('an address that is none gets through no list', async () => {
    const key = await side.keyFor('0.0.0.0/0', '::/0')
    expect(await codeOf(side, key, forwarded(CLIENT))).toBe(200)
    expect(await codeOf(side, key, forwarded('unknown'))).toBe(4013)
    expect(await codeOf(side, await side.keyFor(), forwarded('unknown'))).toBe(200)
  })

  test('a request that was not forwarded comes from where it comes', async () => {
    expect(await codeOf(side, await side.keyFor('127.0.0.1'))).toBe(200)
    expect(await codeOf(side, await side.keyFor(CLIENT))).toBe(4013)
  })
})

describe.each([
  ['another proxy is trusted', ['198.51.100.20']],
  ['no proxy is trusted', []],
])('where %s', (_, trustedProxies) => {
  const api = useMessagingApi({ trustedProxies })
  let side: Side
  beforeAll(async () => {
    side = await open(api, '127.0.0.1')
  })

  test('the address of the socket counts, with any headers', async () => {
    const headers = { ...forwarded(CLIENT), 'x-real-ip': CLIENT, forwarded: `for=${CLIENT}`, 'client-ip': CLIENT }
    expect(await codeOf(side, await side.keyFor(CLIENT), headers)).toBe(4013)
    expect(await codeOf(side, await side.keyFor('127.0.0.0/8'), headers)).toBe(200)
    expect(await codeOf(side, await side.keyFor('127.0.0.0/8'), forwarded(PROXY))).toBe(200)
  })
})

describe('on a socket for IPv6 and IPv4 at once', () => {
  const api = useMessagingApi({ trustedProxies: ['127.0.0.1'] })
  let side: Side | undefined
  beforeAll(async () => {
    side = await open(api, '::').catch(error => {
      if (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL') return undefined // no IPv6 on this machine
      throw error
    })
  })

  test('an IPv4 address is the same address, and so is that of a trusted proxy', async context => {
    if (!side) return context.skip()
    expect(await codeOf(side, await side.keyFor('127.0.0.1'))).toBe(200)
    expect(await codeOf(side, await side.keyFor('127.0.0.2'))).toBe(4013)
    expect(await codeOf(side, await side.keyFor(CLIENT), forwarded(CLIENT))).toBe(200)
    expect(await codeOf(side, await side.keyFor('127.0.0.1'), forwarded(CLIENT))).toBe(4013)
  })
})
