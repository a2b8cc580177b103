import { expect, test } from 'vitest'
import { callbackSecretOf } from '../../domain/callbacks/secrets.ts'
import { signerOf } from '../../domain/callbacks/signature.ts'
import { askForTest, testCall } from '../../domain/callbacks/test-calls.ts'
import { useCallbackSender } from '../../testing/callback-sender.ts'
import { eventually } from '../../testing/eventually.ts'

const world = useCallbackSender()
const { db, clock, travel, startSender, aReceiver } = world

const ask = (url: string) => db.sql.begin(tx => askForTest(tx, world.companyId, url, clock()))

async function finished(testId: number) {
  return eventually(async () => {
    const test = await testCall(db.sql, world.companyId, testId, clock())
    expect(test.state).toBe('finished')
    return test
  })
}

test('a test call is signed like a callback, and the beginning of the response is stored in whole, printable characters', async () => {
  const receiver = await aReceiver((_, response) =>
    response.writeHead(503).end(`busy\0\r\n, come again${'я'.repeat(300)}`),
  )
  startSender()
  const { testId, url } = await ask(receiver.url.replace('//', '//user:password@'))
  expect(url).not.toContain('password@')
  const { statusCode, answer, error, body } = await finished(testId)
  const kept = `busy\n, come again${'я'.repeat(246)}`
  expect({ statusCode, answer, error }).toEqual({ statusCode: 503, answer: kept, error: null })
  expect(receiver.requests).toHaveLength(1) // sent once, although it was refused
  const [{ headers, body: received }] = receiver.requests as [(typeof receiver.requests)[number]]
  expect(received).toBe(body)
  expect(JSON.parse(body!)).toMatchObject([{ callback_event: 'test', message_uuid: expect.stringMatching(/^[0-]+$/) }])
  const sign = signerOf(await callbackSecretOf(db.sql, world.companyId, world.key))
  const id = `test_${world.companyId}_${testId}`
  expect(headers).toMatchObject({
    'webhook-id': id,
    'webhook-signature': sign(id, Number(headers['webhook-timestamp']), received),
    authorization: `Basic ${Buffer.from('user:password').toString('base64')}`,
  })
})

test('a test call is not sent to a private address', async () => {
  const receiver = await aReceiver()
  startSender({ allow: [] })
  const { testId } = await ask(receiver.url)
  expect(await finished(testId)).toMatchObject({ statusCode: null, error: expect.stringContaining('not allowed') })
  expect(receiver.requests).toEqual([])
})

test('a test call without an answer times out, and delays no other test call', async () => {
  const silent = await aReceiver(() => {})
  const quick = await aReceiver()
  startSender({ timeoutMs: 1500 })
  const slow = await ask(silent.url)
  await eventually(async () => expect(silent.requests).toHaveLength(1))
  const { testId } = await ask(quick.url)
  expect(await finished(testId)).toMatchObject({ statusCode: 200, answer: '{}' })
  expect(await finished(slow.testId)).toMatchObject({ statusCode: null, error: 'no answer in time' })
})

test('a test call that no engine sent in time is lost, and a company may request ten a minute', async () => {
  const receiver = await aReceiver()
  const { testId } = await ask(receiver.url)
  travel(31)
  expect((await testCall(db.sql, world.companyId, testId, clock())).state).toBe('lost')
  for (let i = 1; i < 10; i++) await ask(receiver.url)
  await expect(ask(receiver.url)).rejects.toThrow('Too many test calls')
  await expect(ask('ftp://example.com')).rejects.toThrow('http or https')
  startSender()
  await eventually(async () => expect(receiver.requests).toHaveLength(9)) // all except the lost test call
})
