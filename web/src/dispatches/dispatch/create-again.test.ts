import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAgain } from './create-again.ts'

const json = (status: number, body: object) => new Response(JSON.stringify(body), { status })
const badGateway = () => new Response('<html>', { status: 502 })
const original = (again: object | null) => json(200, { again })
const fetched = vi.fn<(url: URL, options: { method: string }) => Promise<Response>>()
const onUnanswered = vi.fn()
const create = () => createAgain(7, 'en', onUnanswered, 0)
const methods = () => fetched.mock.calls.map(([, { method }]) => method)

beforeEach(() => {
  vi.stubGlobal('fetch', fetched)
  vi.stubGlobal('document', { baseURI: 'https://example.com/cabinet/' })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetAllMocks()
})

test('after an error of a proxy the new dispatch is found at the original', async () => {
  fetched
    .mockResolvedValueOnce(badGateway())
    .mockResolvedValueOnce(original(null))
    .mockRejectedValueOnce(new TypeError('no connection'))
    .mockResolvedValueOnce(original({ dispatchId: 8, name: 'Again' }))
  expect(await create()).toEqual({ dispatchId: 8, isNew: true })
  expect(onUnanswered).toHaveBeenCalledTimes(1)
  expect(methods()).toEqual(['POST', 'GET', 'GET', 'GET'])
})

test('a dispatch that is not found in some minutes is reported as the first error', async () => {
  fetched.mockImplementation(async (_, { method }) => (method === 'POST' ? badGateway() : original(null)))
  await expect(create()).rejects.toMatchObject({ status: 502 })
  expect(fetched).toHaveBeenCalledTimes(61)
})

test('a refusal is reported at once', async () => {
  fetched.mockResolvedValueOnce(json(400, { error: { code: 4000, msg: 'refused' } }))
  await expect(create()).rejects.toThrow('refused')
  expect(fetched).toHaveBeenCalledTimes(1)
  expect(onUnanswered).not.toHaveBeenCalled()
})
