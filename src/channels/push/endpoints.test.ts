import { expect, test } from 'vitest'
import { createEndpointCheck, type Lookup } from './endpoints.ts'

const names: Record<string, string[]> = {
  'push.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'inside.example': ['10.1.2.3'],
  'both.example': ['93.184.215.14', '169.254.169.254'],
  'nat64.example': ['64:ff9b::5db8:d70e'],
  'nat64-inside.example': ['64:ff9b::a01:203'],
}
const look: Lookup = async name => names[name] ?? Promise.reject(new Error('ENOTFOUND'))

const aCheck = (allowInsecure: boolean, by = look) => {
  const check = createEndpointCheck({ allowInsecure, timeoutMs: 1000 }, by)
  return (url: string) => check(new URL(url))
}

test.each([
  'http://push.example/a',
  'ftp://push.example/a',
  'http://127.0.0.1/a',
  'https://127.0.0.1/a',
  'https://2130706433/a',
  'https://0x7f.1/a',
  'https://10.0.0.1/a',
  'https://169.254.169.254/latest',
  'https://192.168.1.1:8443/a',
  'https://[::1]/a',
  'https://[::ffff:10.0.0.1]/a',
  'https://[fd00::1]/a',
  'https://[64:ff9b::10.0.0.1]/a',
  'https://localhost/a',
  'https://localhost./a',
  'https://db.localhost/a',
  'https://printer.local/a',
  'https://metadata.google.internal/a',
  'https://intranet/a',
  'https://inside.example/a',
  'https://both.example/a',
  'https://nat64-inside.example/a',
])('%s is refused', async url => {
  expect(await aCheck(false)(url)).toBe('refused')
})

test.each(['https://push.example/a', 'https://nat64.example/a', 'https://93.184.215.14/a', 'https://[2606:2800::1]/a'])(
  '%s is allowed',
  async url => {
    expect(await aCheck(false)(url)).toBe('allowed')
  },
)

test('a name that is not found now may be later', async () => {
  expect(await aCheck(false)('https://nowhere.example/a')).toBe('unknown')
})

test('a silent name server does not delay a message for long', async () => {
  const check = createEndpointCheck({ allowInsecure: false, timeoutMs: 10 }, () => new Promise(() => {}))
  expect(await check(new URL('https://push.example/a'))).toBe('unknown')
})

test('a name is looked up once for many messages, and again if it was not found', async () => {
  const looked: string[] = []
  const check = aCheck(false, name => {
    looked.push(name)
    return look(name)
  })
  for (const _ of [1, 2]) await check('https://push.example/a')
  for (const _ of [1, 2]) await check('https://nowhere.example/a')
  expect(looked).toEqual(['push.example', 'nowhere.example', 'nowhere.example'])
})

test('for tests, plain http is allowed to this machine only', async () => {
  const check = aCheck(true)
  for (const url of ['http://127.0.0.1:8080/a', 'http://localhost/a', 'http://[::1]/a', 'https://10.0.0.1/a'])
    expect(await check(url)).toBe('allowed')
  for (const url of ['http://push.example/a', 'http://10.0.0.1/a']) expect(await check(url)).toBe('refused')
})
