import { beforeAll, expect, test } from 'vitest'
import { uuid7 } from '../../../base/uuid7.ts'
import { aMessagingSide, aSingle, type MessagingSide } from '../../../testing/conformance/messaging-world.ts'
import { printOfTables } from '../../../testing/conformance/world.ts'
import { numberOf } from '../../../testing/factories.ts'
import { useMessagingApi } from '../../../testing/messaging-api.ts'

const api = useMessagingApi()
let side: MessagingSide

beforeAll(async () => {
  side = await aMessagingSide(api.sql)
})

const report = (body: object) =>
  api.call({ method: 'POST', path: '/flashcall-conversion', key: side.keys.MESSAGE, body })
const aFlashcall = () => aSingle(api.sql, side.companyId, 'FLASHCALL')
const kept = async (uuid: string) =>
  (
    await api.sql`select result, code from flashcall_results where company_id = ${side.companyId} and message_uuid = ${uuid}`
  )[0]

test.each([
  ['NUMBER_VERIFIED', 'NUMBER_VERIFIED'],
  ['NUMBER_VERIFIERD', 'NUMBER_VERIFIED'],
  ['WRONG_CODE', 'WRONG_CODE'],
])('%s is answered with {} and kept as %s', async (result, word) => {
  const uuid = await aFlashcall()
  const answer = await report({ messageUuid: uuid, result })
  expect([answer.status, answer.text]).toEqual([200, '{}'])
  expect(await kept(uuid)).toEqual({ result: word, code: null })
})

test.each([
  ['0042', '0042'],
  [42, '42'],
  ['', ''],
])('the code %j that was typed is kept as %j', async (code, text) => {
  const uuid = await aFlashcall()
  await report({ messageUuid: uuid.toUpperCase(), result: 'WRONG_CODE', code })
  expect(await kept(uuid)).toEqual({ result: 'WRONG_CODE', code: text })
})

test('a repeat is 200 and changes nothing', async () => {
  const uuid = await aFlashcall()
  await report({ messageUuid: uuid, result: 'WRONG_CODE', code: '1111' })
  const after = await printOfTables(api.sql)
  expect((await report({ messageUuid: uuid, result: 'WRONG_CODE', code: '2222' })).status).toBe(200)
  expect(await printOfTables(api.sql)).toEqual(after)
})

test('the right code after a wrong one is the last word', async () => {
  const uuid = await aFlashcall()
  await report({ messageUuid: uuid, result: 'WRONG_CODE', code: '1111' })
  await report({ messageUuid: uuid, result: 'NUMBER_VERIFIED', code: '1234' })
  await report({ messageUuid: uuid, result: 'WRONG_CODE', code: '2222' })
  expect(await kept(uuid)).toEqual({ result: 'NUMBER_VERIFIED', code: '1234' })
})

test('ten words at once leave one', async () => {
  const uuid = await aFlashcall()
  const words = Array.from({ length: 10 }, (_, i) => (i === 5 ? 'NUMBER_VERIFIED' : 'WRONG_CODE'))
  const answers = await Promise.all(words.map(result => report({ messageUuid: uuid, result })))
  expect(answers.map(({ status }) => status)).toEqual(words.map(() => 200))
  expect(await kept(uuid)).toEqual({ result: 'NUMBER_VERIFIED', code: null })
})

test('a message of another channel is 4000', async () => {
  const before = await printOfTables(api.sql)
  const { status, body } = await report({ messageUuid: side.smsUuid, result: 'NUMBER_VERIFIED' })
  expect(status).toBe(400)
  expect(body).toEqual({ error: { code: 4000, msg: 'messageUuid: must be a message of FLASHCALL' } })
  expect(await printOfTables(api.sql)).toEqual(before)
})

test('a message of a dispatch has the channel of the dispatch', async () => {
  const { companyId } = side
  const uuidIn = async (dispatchId: number, channelType: string) => {
    await api.sql`
      insert into dispatches (company_id, dispatch_id, name, channel_type, traffic_type, text, sender_ids)
      values (${companyId}, ${dispatchId}, 'Codes', ${channelType}, 'PROMO', '1234', '{}')`
    const uuid = uuid7(new Date())
    await api.sql`
      insert into messages (company_id, message_uuid, dispatch_id, dispatch_position, price, status, parts, brand_id, destination)
      values (${companyId}, ${uuid}, ${dispatchId}, 0, 0, 'SENT', 1, 1, ${numberOf.MTS})`
    return uuid
  }
  const flashcall = await uuidIn(1, 'FLASHCALL')
  expect((await report({ messageUuid: flashcall, result: 'NUMBER_VERIFIED' })).status).toBe(200)
  expect((await report({ messageUuid: await uuidIn(2, 'SMS'), result: 'NUMBER_VERIFIED' })).status).toBe(400)
})

test('nothing of it was our fault', () => {
  expect(api.errors).toEqual([])
})
