import { describe, expect, test } from 'vitest'
import { smsParts } from '../../base/content/sms-text.ts'
import { maskOf } from '../verifications/code-box.ts'
import { defaultSettings, type VerifierChannel } from '../verifiers/verifier.ts'
import { codeTextOf, textIn } from './texts.ts'

const settings = { ...defaultSettings, webOtpHost: 'shop.example', androidHash: 'FA+9qCX9VSu' }
const said = (channel: VerifierChannel, template: string, code = '314159', substitutions = {}) =>
  codeTextOf(channel, settings, template, code, substitutions)!

describe('a masked text', () => {
  test.each([
    ['of one part', 'x'.repeat(100)],
    ['at the end of a part', 'x'.repeat(160 - 6 - 44)],
    ['in UCS-2', 'Ж'.repeat(40)],
    ['of two parts in UCS-2', 'Ж'.repeat(100)],
  ])('%s has as many parts as the text that goes out', (_, words) => {
    const lengths = [0, 1, 2, 3].map(more => `${words}${'x'.repeat(more)}{code}`)
    for (const template of lengths) {
      const [clear, masked] = [said('SMS', template), said('SMS', template, maskOf('314159'))]
      expect(masked.text).toHaveLength(clear.text.length)
      expect(smsParts(masked.text)).toBe(smsParts(clear.text))
    }
  })

  test.each<VerifierChannel>(['SMS', 'VOICECODE', 'FLASHCALL', 'WHATSAPP', 'VIBER', 'TELEGRAM', 'TELEGRAM_GATEWAY'])(
    'of %s shows no digit of the code in its text or content',
    channel => {
      expect(JSON.stringify(said(channel, 'Code: {code}', maskOf('31415926')))).not.toMatch(/3|1415|26/)
    },
  )
})

test('a call says the code, although the text has other digits', () => {
  const { content } = said('VOICECODE', 'Order 271828: your code is {code}')
  expect(content).toEqual({ contentType: 'authentication', code: '314159' })
})

test.each([
  ['ru', 'ru'],
  ['RU-ru', 'ru'],
  ['de', 'en'],
  ['__proto__', 'en'],
  [undefined, 'en'],
])('the language %s is answered in %s', (asked, found) => {
  expect(textIn(settings, asked)).toBe(settings.texts[found])
})
