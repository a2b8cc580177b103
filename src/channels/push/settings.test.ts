import { createECDH, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startFcm } from '../../testing/providers/fcm.ts'
import { vapidSettings } from '../../testing/providers/push-fixtures.ts'
import { secretsOf } from '../settings.ts'
import { pushSchema, readSettings } from './settings.ts'

const fcm = await startFcm()
await fcm.stop()
const account: Record<string, string> = { ...fcm.serviceAccount, token_uri: 'https://oauth2.googleapis.com/token' }

test('VAPID keys alone are enough for browsers', () => {
  const { vapid, fcm, window, timeoutMs, allowInsecure } = readSettings(vapidSettings)
  expect(vapid).toMatchObject({ publicKey: vapidSettings.vapidPublicKey, subject: vapidSettings.vapidSubject })
  expect({ fcm, window, timeoutMs, allowInsecure }).toEqual({
    fcm: undefined,
    window: 100,
    timeoutMs: 10_000,
    allowInsecure: false,
  })
})

test.each([
  ['text', JSON.stringify(account)],
  ['an object', account],
  [
    'an object whose line ends were written out',
    { ...account, private_key: account.private_key!.replaceAll('\n', '\\n') },
  ],
])('a service account alone is enough for apps: as %s', (_, fcmServiceAccount) => {
  const { vapid, fcm } = readSettings({ fcmServiceAccount })
  expect(vapid).toBeUndefined()
  expect(fcm).toMatchObject({
    baseUrl: 'https://fcm.googleapis.com',
    projectId: account.project_id,
    clientEmail: account.client_email,
    tokenUrl: account.token_uri,
  })
})

test('a service account without an address for tokens uses the address of Google', () => {
  const { token_uri: _, ...rest } = account
  expect(readSettings({ fcmServiceAccount: rest }).fcm!.tokenUrl).toBe('https://oauth2.googleapis.com/token')
})

test('keys in the other alphabet of base64 are the same keys', () => {
  const vapidPublicKey = Buffer.from(vapidSettings.vapidPublicKey, 'base64url').toString('base64')
  expect(readSettings({ ...vapidSettings, vapidPublicKey }).vapid!.publicKey).toBe(vapidSettings.vapidPublicKey)
})

test('a private key that begins with zeros is read too', () => {
  const own = createECDH('prime256v1')
  own.setPrivateKey(Buffer.from([123]))
  const vapidPrivateKey = Buffer.from([...Buffer.alloc(31), 123]).toString('base64url')
  const raw = { ...vapidSettings, vapidPublicKey: own.getPublicKey('base64url'), vapidPrivateKey }
  expect(readSettings(raw).vapid!.privateKey.asymmetricKeyType).toBe('ec')
})

const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const other = 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8'

describe('an error contains the name of the wrong setting, never its value', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'vapidPublicKey'],
    ['empty fields', { vapidPublicKey: '', fcmServiceAccount: '' }, 'vapidPublicKey'],
    ['a key without its other half', { ...vapidSettings, vapidPrivateKey: undefined }, '"vapidPrivateKey"'],
    ['no subject', { ...vapidSettings, vapidSubject: undefined }, '"vapidSubject"'],
    ['a subject that is no address', { ...vapidSettings, vapidSubject: 'push@tidings.example' }, '"vapidSubject"'],
    ['a short key', { ...vapidSettings, vapidPublicKey: 'AAAA' }, '"vapidPublicKey" must be 65 bytes'],
    ['a key of other letters', { ...vapidSettings, vapidPrivateKey: '*'.repeat(43) }, '"vapidPrivateKey" must be 32'],
    ['a zero for a key', { ...vapidSettings, vapidPrivateKey: 'A'.repeat(43) }, '"vapidPrivateKey" is no private'],
    ['keys of two pairs', { ...vapidSettings, vapidPublicKey: other }, '"vapidPublicKey" does not belong'],
    ['no JSON', { fcmServiceAccount: 'secret-words' }, '"fcmServiceAccount" is no JSON'],
    ['a list', { fcmServiceAccount: '[]' }, '"fcmServiceAccount" is no JSON'],
    ['no project', { fcmServiceAccount: { ...account, project_id: ' ' } }, '"fcmServiceAccount.project_id" is empty'],
    ['no mail', { fcmServiceAccount: { ...account, client_email: undefined } }, '"fcmServiceAccount.client_email"'],
    ['no PEM', { fcmServiceAccount: { ...account, private_key: 'secret-words' } }, '"fcmServiceAccount.private_key"'],
    [
      'another kind of key',
      { fcmServiceAccount: { ...account, private_key: ecKey } },
      '"fcmServiceAccount.private_key"',
    ],
    [
      'tokens in the clear',
      { fcmServiceAccount: fcm.serviceAccount },
      '"fcmServiceAccount.token_uri" must be an https',
    ],
    ['FCM in the clear', { fcmServiceAccount: account, fcmBaseUrl: 'http://fcm.example' }, '"fcmBaseUrl" must be'],
    ['no window', { ...vapidSettings, window: 0 }, '"window"'],
    ['no time', { ...vapidSettings, timeoutMs: 'soon' }, '"timeoutMs"'],
  ])('%s', (_, raw, complaint) => {
    const message = complaintOf(raw)
    expect(message).toContain(complaint)
    expect(message).not.toContain('secret-words')
    expect(message).not.toContain(vapidSettings.vapidPrivateKey)
  })
})

function complaintOf(raw: Record<string, unknown>): string {
  try {
    readSettings(raw)
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

test('the private keys are secret', () => {
  expect(secretsOf(pushSchema)).toEqual(['vapidPrivateKey', 'fcmServiceAccount'])
})
