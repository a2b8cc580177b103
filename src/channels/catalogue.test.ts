import { createECDH, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readers } from '../http/webhooks/readers.ts'
import { catalogue, descriptions, entryOf } from './catalogue.ts'
import { connectorNames } from './connector-names.ts'

const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const manual = readFileSync(new URL('../../docs/channels.md', import.meta.url), 'utf8')

const vapid = createECDH('prime256v1')
vapid.generateKeys()
const account = {
  project_id: 'shop',
  client_email: 'push@shop.example',
  private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
}

/** The required settings of each connector, and one mistake. */
const examples: Record<string, { right: Record<string, unknown>; wrong: Record<string, unknown>; named: string }> = {
  simulator: { right: { receiptMs: 5, note: 'any' }, wrong: { failRate: 2 }, named: 'failRate' },
  smpp: {
    right: { host: '127.0.0.1', systemId: 'me', password: 'sesame' },
    wrong: { host: '127.0.0.1', systemId: 'me', password: 'sesame', window: 'wide' },
    named: 'window',
  },
  whatsapp: {
    right: { phoneNumberId: '106540352242922', accessToken: 'EAAG', appSecret: 'x', verifyToken: 'y' },
    wrong: { phoneNumberId: '106540352242922', accessToken: 'EAAG', appSecret: '', verifyToken: 'y' },
    named: 'appSecret',
  },
  telegram: { right: { token: `123:${'a'.repeat(35)}` }, wrong: { token: '123' }, named: 'token' },
  'telegram-gateway': { right: { token: 'abc' }, wrong: { token: 'abc', codeLength: 9 }, named: 'codeLength' },
  http: {
    right: { url: 'https://provider.example/messages', secret: whsec },
    wrong: { url: 'ftp://provider.example', secret: whsec },
    named: 'url',
  },
  push: {
    right: {
      vapidPublicKey: vapid.getPublicKey('base64url'),
      vapidPrivateKey: vapid.getPrivateKey('base64url'),
      vapidSubject: 'mailto:push@shop.example',
      fcmServiceAccount: JSON.stringify(account),
    },
    wrong: { vapidSubject: 'nobody' },
    named: 'vapidPublicKey',
  },
}

test('every connector has an example here', () => {
  expect(Object.keys(examples).sort()).toEqual(connectorNames.toSorted())
})

describe.each(descriptions)('the form of $name', ({ name, fields, secrets }) => {
  const { check } = entryOf(name)
  const { right } = examples[name]!
  const passes = (settings: Record<string, unknown>) => isTaken(check, { ...right, ...settings })

  test('has every setting that the connector reads, and no other', () => {
    const asked = new Set<string | symbol>()
    check(new Proxy(right, { get: (raw, setting) => asked.add(setting) && raw[setting as string] }))
    expect(fields.map(field => field.name).sort()).toEqual([...asked].sort())
    expect(fields.map(field => field.name)).toEqual(expect.arrayContaining([...secrets]))
  })

  test('offers values that the connector accepts, and requires the settings that it requires', () => {
    const wrong = fields.flatMap(field => {
      const { name } = field
      const without = Object.fromEntries(Object.entries(right).filter(([setting]) => setting !== name))
      if (field.isRequired && isTaken(check, without)) return [`${name} is not required`]
      if (field.kind === 'choice')
        return field.choices.filter(value => !passes({ [name]: value })).map(bad => `${name} ${bad}`)
      if (field.kind === 'flag') return passes({ [name]: field.default }) ? [] : [name]
      if (field.kind === 'share') return passes({ [name]: 1 }) && !passes({ [name]: 1.1 }) ? [] : [name]
      if (field.kind !== 'whole') return []
      const { least, most } = field
      const isBounded = !passes({ [name]: least - 1 }) && !passes({ [name]: most + 1 })
      const given = name === 'registeredDelivery' ? [field.default] : [least, most, field.default ?? least]
      return isBounded && given.every(value => passes({ [name]: value })) ? [] : [name]
    })
    expect(wrong).toEqual([])
  })
})

function isTaken(check: (settings: Record<string, unknown>) => void, settings: Record<string, unknown>): boolean {
  try {
    check(settings)
    return true
  } catch {
    return false
  }
}

describe.each(connectorNames)('%s', name => {
  const { check, secrets, hasWebhook } = entryOf(name)
  const { right, wrong, named } = examples[name]!

  test('names the wrong setting, and repeats no value', () => {
    expect(() => check(wrong)).toThrow(new RegExp(`"${named}"`))
    expect(() => check(wrong)).not.toThrow(/sesame|wide|EAAG|nobody/)
  })

  test('accepts right settings', () => {
    expect(() => check(right)).not.toThrow()
  })

  test.skipIf(name === 'simulator')('refuses a misspelt setting', () => {
    expect(() => check({ ...right, pasword: 'sesame' })).toThrow(/^setting "pasword" is not known to this connector$/)
  })

  test('has a reader of webhooks exactly if `hasWebhook` is true', () => {
    expect(Object.hasOwn(readers, name)).toBe(hasWebhook)
  })

  test('reads every secret that it lists, and the manual has every setting that it reads', () => {
    const asked = [...namesAsked(check, right)]
    expect(asked).toEqual(expect.arrayContaining([...secrets]))
    expect(asked.filter(setting => !manual.includes(`\`${setting}\``))).toEqual([])
  })
})

function namesAsked(check: (settings: Record<string, unknown>) => void, settings: Record<string, unknown>) {
  const asked = new Set<string>()
  check(new Proxy(settings, { get: (raw, name) => asked.add(String(name)) && raw[String(name)] }))
  return asked
}

test('a push gateway needs settings for browsers or for apps', () => {
  expect(() => catalogue.push.check({})).toThrow(/"vapidPublicKey".*"fcmServiceAccount"/)
})

test('the error for an unknown connector contains its name', () => {
  expect(() => entryOf('pigeon')).toThrow('There is no connector "pigeon"')
  expect(() => entryOf('toString')).toThrow('There is no connector "toString"')
})
