import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GSM_DEFAULT, GSM_EXTENSION, smsParts } from '../../../base/content/sms-text.ts'
import { esmClass } from './pdu.ts'
import {
  decodeInbound,
  decodeSeptets,
  decodeText,
  encodeSeptets,
  encodeText,
  type InboundText,
  type LongMessages,
  packSeptets,
  type TextOptions,
  unpackSeptets,
} from './text.ts'

const gsmChars = [...GSM_DEFAULT.replace('\x1b', '').replace('\r', ''), ...Object.keys(GSM_EXTENSION)]
const gsmTexts = fc.array(fc.constantFrom(...gsmChars), { minLength: 1, maxLength: 700 }).map(chars => chars.join(''))
const anyTexts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 })

const options: TextOptions = { longMessages: 'udh', gsmPacking: false, latin1: false }

/** Reads the parts as a phone does: each alone, then joined in their order. */
function readBack(text: string, chosen: TextOptions): string {
  const parts = encodeText(text, 0x1234, chosen).map(part => decodeInbound({ ...part, tlvs: part.tlvs ?? {} }, chosen))
  expectOneMessage(parts)
  return parts.map(part => part.text).join('')
}

function expectOneMessage(parts: InboundText[]) {
  if (parts.length === 1) return expect(parts[0]!.joined).toBeUndefined()
  expect(new Set(parts.map(({ joined }) => joined!.reference)).size).toBe(1)
  expect(parts.map(({ joined }) => joined!.part)).toEqual(parts.map((_, i) => i + 1))
  expect(new Set(parts.map(({ joined }) => joined!.parts))).toEqual(new Set([parts.length]))
}

describe('a text in parts', () => {
  for (const longMessages of ['udh', 'sar', 'payload'] satisfies LongMessages[]) {
    for (const gsmPacking of [false, true]) {
      for (const latin1 of [false, true]) {
        test(`reads back as it was: ${longMessages}${gsmPacking ? ', packed' : ''}${latin1 ? ', Latin-1' : ''}`, () => {
          const chosen = { longMessages, gsmPacking, latin1 }
          fc.assert(
            fc.property(fc.oneof(gsmTexts, anyTexts), text => {
              expect(readBack(text, chosen)).toBe(text)
            }),
            { numRuns: 100 },
          )
        })
      }
    }
  }

  test('has as many parts as are billed, and each fits into a message', () => {
    fc.assert(
      fc.property(fc.oneof(gsmTexts, anyTexts), text => {
        const parts = encodeText(text, 1, { ...options, gsmPacking: true })
        expect(parts.length).toBe(smsParts(text))
        for (const { shortMessage } of parts) expect(shortMessage.length).toBeLessThanOrEqual(140)
      }),
    )
  })

  test('a part has the header that joins the parts', () => {
    const [first, second] = encodeText('a'.repeat(161), 0x1f7, options)
    expect(first!.esmClass).toBe(esmClass.udh)
    expect(first!.shortMessage.subarray(0, 7)).toEqual(Buffer.from([5, 0, 3, 0xf7, 2, 1, 0x61]))
    expect(second!.shortMessage.subarray(0, 7)).toEqual(Buffer.from([5, 0, 3, 0xf7, 2, 2, 0x61]))
    expect(second!.shortMessage.length).toBe(6 + 161 - 153)
  })

  test('the data coding names the alphabet', () => {
    expect(encodeText('Hello', 1, options)[0]!.dataCoding).toBe(0)
    expect(encodeText('Привет', 1, options)[0]!.dataCoding).toBe(8)
    expect(encodeText('Hello', 1, { ...options, latin1: true })[0]!.dataCoding).toBe(3)
    expect(encodeText('Ω', 1, { ...options, latin1: true })[0]!.dataCoding).toBe(0)
  })

  test('a text of more than 255 parts is refused', () => {
    expect(() => encodeText('a'.repeat(153 * 256), 1, options)).toThrow(RangeError)
  })
})

describe('septets', () => {
  test('are packed as in the example of the standard', () => {
    const octets = packSeptets(encodeSeptets('hellohello'), 0)
    expect(octets.toString('hex')).toBe('e8329bfd4697d9ec37')
    expect(decodeSeptets(unpackSeptets(octets, 0))).toBe('hellohello')
  })

  test('seven characters get no "@" at the end', () => {
    expect(decodeSeptets(unpackSeptets(packSeptets(encodeSeptets('1234567'), 0), 0))).toBe('1234567')
    expect(decodeSeptets(unpackSeptets(packSeptets(encodeSeptets('1234567@'), 0), 0))).toBe('1234567@')
  })

  test('an escape without an extension character shows the default character', () => {
    expect(decodeSeptets(Buffer.from([0x1b, 0x41, 0x1b]))).toBe('A')
  })
})

describe('an inbound text', () => {
  test('is read with its data coding', () => {
    expect(decodeText(0, Buffer.from([0x1b, 0x65, 0x00]))).toBe('€@')
    expect(decodeText(1, Buffer.from('plain'))).toBe('plain')
    expect(decodeText(3, Buffer.from([0xe9]))).toBe('é')
    expect(decodeText(6, Buffer.from([0xbf, 0xe0]))).toBe('Пр')
    expect(decodeText(8, Buffer.from('041f0440', 'hex'))).toBe('Пр')
    expect(decodeText(0x18, Buffer.from('041f0440', 'hex'))).toBe('Пр')
  })

  test('is joined by a reference of 16 bits too, after other elements of the header', () => {
    const header = Buffer.from([0x0b, 0x24, 0x01, 0x01, 0x01, 0x00, 0x08, 0x04, 0x12, 0x34, 0x03, 0x02])
    const shortMessage = Buffer.concat([header, Buffer.from('abc')])
    const read = decodeInbound({ esmClass: 0x40, dataCoding: 0, shortMessage, tlvs: {} }, options)
    expect(read).toEqual({ text: 'abc', joined: { reference: 'udh16:4660', part: 2, parts: 3 } })
  })

  test('never throws, for any octets', () => {
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.nat(255),
        fc.uint8Array({ maxLength: 300 }),
        fc.boolean(),
        (esm, coding, octets, gsmPacking) => {
          const incoming = { esmClass: esm, dataCoding: coding, shortMessage: Buffer.from(octets), tlvs: {} }
          expect(typeof decodeInbound(incoming, { gsmPacking }).text).toBe('string')
        },
      ),
      { numRuns: 1000 },
    )
  })
})
