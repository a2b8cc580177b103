import { describe, expect, test } from 'vitest'
import { secretsOf } from '../settings.ts'
import { botSchema, gatewaySchema, readBotSettings, readGatewaySettings } from './settings.ts'

const botToken = '7000000001:AAFakeFakeFakeFakeFakeFakeFakeFakeFa'

describe('settings', () => {
  test('a token is enough for a bot', () => {
    expect(readBotSettings({ token: botToken })).toEqual({
      token: botToken,
      botName: '7000000001',
      webhookSecret: undefined,
      baseUrl: 'https://api.telegram.org',
      window: 30,
      timeoutMs: 30_000,
    })
  })

  test('a token is enough for the Gateway API', () => {
    expect(readGatewaySettings({ token: 'AAFake' })).toEqual({
      token: 'AAFake',
      baseUrl: 'https://gatewayapi.telegram.org',
      callbackUrl: undefined,
      senderUsername: undefined,
      codeLength: undefined,
      ttlSeconds: undefined,
      abilityCheck: true,
      window: 30,
      timeoutMs: 30_000,
    })
  })

  test.each([
    [{}, 'token'],
    [{ token: '' }, 'token'],
    [{ token: 'no token' }, 'token'],
    [{ token: `${botToken}/../x` }, 'token'],
    [{ token: `${botToken}\n` }, 'token'],
    [{ token: botToken, webhookSecret: 'with space' }, 'webhookSecret'],
    [{ token: botToken, webhookSecret: 'x'.repeat(257) }, 'webhookSecret'],
    [{ token: botToken, baseUrl: 'ftp://x' }, 'baseUrl'],
    [{ token: botToken, botName: 'a b' }, 'botName'],
    [{ token: botToken, window: 0 }, 'window'],
    [{ token: botToken, timeoutMs: 'soon' }, 'timeoutMs'],
  ])('of a bot: the error for %j names "%s"', (raw, name) => {
    expect(() => readBotSettings(raw)).toThrow(`setting "${name}"`)
  })

  test.each([
    [{}, 'token'],
    [{ token: 'line\nbreak' }, 'token'],
    [{ token: 'AAFake', callbackUrl: 'nowhere' }, 'callbackUrl'],
    [{ token: 'AAFake', callbackUrl: `https://x.example/${'y'.repeat(250)}` }, 'callbackUrl'],
    [{ token: 'AAFake', senderUsername: 'a b' }, 'senderUsername'],
    [{ token: 'AAFake', codeLength: 9 }, 'codeLength'],
    [{ token: 'AAFake', ttlSeconds: 29 }, 'ttlSeconds'],
    [{ token: 'AAFake', ttlSeconds: 3601 }, 'ttlSeconds'],
  ])('of the Gateway API: the error for %j names "%s"', (raw, name) => {
    expect(() => readGatewaySettings(raw)).toThrow(`setting "${name}"`)
  })

  test('no error contains a wrong secret', () => {
    const wrong = 'AAWrongWrongWrong!'
    for (const read of [
      () => readBotSettings({ token: wrong }),
      () => readBotSettings({ token: botToken, webhookSecret: wrong }),
      () => readGatewaySettings({ token: `${wrong} ` }),
    ]) {
      expect(read).toThrow()
      expect(read).not.toThrow(wrong)
    }
  })

  test('tokens and secrets are listed as secret', () => {
    expect(secretsOf(botSchema)).toEqual(['token', 'webhookSecret'])
    expect(secretsOf(gatewaySchema)).toEqual(['token'])
  })
})
