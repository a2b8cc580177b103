import type { AddressInfo } from 'node:net'
import type { Pool } from '../db/sql.ts'
import type { KeyType } from '../domain/keys/key.ts'
import { createKey, type KeyOptions } from '../domain/keys/keys.ts'
import { type Answer, type Call, type TestApp, useApp } from './api.ts'

export type MessagingCall = Omit<Call, 'token'> & {
  /** The value of an API key, sent as `Bearer`. */
  key?: string
  /** One of the spellings of the API's address. */
  prefix?: '/api/v1' | '/v1' | '/api/v1/v1'
}

export type TestMessagingApi = TestApp & {
  call(call: MessagingCall): Promise<Answer>
  /** Listens on a free port of this host, and returns the address without a path. */
  listen(host: string): Promise<string>
}

/**
 * The messaging API on its own database. Every answer is compared with the OpenAPI document that the service serves.
 */
export function useMessagingApi({ trustedProxies = [] }: { trustedProxies?: string[] } = {}): TestMessagingApi {
  const { api, ask } = useApp('/docs/messaging.json', trustedProxies)
  return Object.assign(api, {
    call: (call: MessagingCall) => ask(call.prefix ?? '/api/v1', call.key, call),
    listen: async (host: string) => {
      await api.app.listen({ port: 0, host })
      const { port } = api.app.server.address() as AddressInfo
      return `http://127.0.0.1:${port}`
    },
  })
}

/** A key of the company. Options that the test does not give have the defaults of `createKey`. */
export const aKey = (sql: Pool, companyId: number, type: KeyType = 'MESSAGE', options: KeyOptions = {}) =>
  sql.begin(tx => createKey(tx, companyId, type, options))
