import { beforeAll, expect, test } from 'vitest'
import { errorCodes, errorDescriptions } from '../../base/error-codes.ts'
import { aMessagingSide, type MessagingSide } from '../../testing/conformance/messaging-world.ts'
import { useMessagingApi } from '../../testing/messaging-api.ts'

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

test('the error codes are listed once each, smallest first, with a description', async () => {
  const { status, body } = await api.call({
    method: 'GET',
    path: '/references/error-codes',
    key: side.keys.BUILDER_WIDGET,
  })
  expect(status).toBe(200)
  const codes: number[] = body.map(({ code }: { code: number }) => code)
  expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b))
  expect(body).toContainEqual({ code: 7402, description: 'The number is on the blacklist' })
  for (const { description } of body) expect(description).toMatch(/^[A-Z].*[a-z]$/)
})

test('every code that a message can get is listed', () => {
  const promised = [125, 149, 150, 151, 152, 453, 454, 455, 456, 7060, 7401, 7402, 7403, 7404, 7405]
  const described = Object.keys(errorDescriptions).map(Number)
  expect(described).toEqual(expect.arrayContaining([...promised, ...Object.values(errorCodes)]))
})
