import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { errorCodes, errorDescriptions } from '../../base/error-codes.ts'
import { errorCodeOf, failureClass } from '../../channels/smpp/receipts/failure.ts'
import { rejection } from '../../domain/messages/message.ts'
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

test('every code that a message can get is listed, and no other', () => {
  const promised = [125, 149, 150, 151, 152, 453, 454, 455, 456, 7060, 7401, 7402, 7403, 7404, 7405]
  const ofOperators = Object.values(failureClass).map(errorCodeOf)
  const known = new Set<number>([...promised, ...Object.values(errorCodes), ...ofOperators])
  expect(Object.keys(errorDescriptions).map(Number)).toEqual([...known].sort((a, b) => a - b))
})

/** The test above does not find error codes that the code writes as plain numbers. */
test('codes are written as numbers where they are listed, and nowhere else', async () => {
  const root = new URL('../../', import.meta.url)
  const files = (await readdir(root, { recursive: true })).filter(
    file => /\.(ts|sql)$/.test(file) && !/(\.test|\.contract)\.ts$|^testing\//.test(file),
  )
  const found: string[] = []
  for (const file of files) {
    const text = await readFile(new URL(file, root), 'utf8')
    for (const [words] of text.matchAll(/\berror_?code\b['"]?\s*[:=]\s*\d+/gi)) found.push(`${file}: ${words}`)
  }
  expect(files.length).toBeGreaterThan(100)
  expect(found).toEqual([])
  for (const code of Object.values(rejection)) expect(errorDescriptions).toHaveProperty(String(code))
})
