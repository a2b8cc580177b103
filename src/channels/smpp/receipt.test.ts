import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMessageIds, keptId, type ReceiptIds, submittedId } from './message-ids.ts'
import type { Tlvs } from './pdu.ts'
import { isReceipt, momentOf, readReceipt, readReceiptText } from './receipt.ts'

const aText = (stat: string, err = '000') =>
  `id:0123456789 sub:001 dlvrd:001 submit date:2601021530 done date:2601021531 stat:${stat} err:${err} text:Hello id:9`

const aReceipt = (text: string, tlvs: Tlvs = {}, esmClass = 4) => ({
  esmClass,
  dataCoding: 0,
  shortMessage: Buffer.from(text),
  tlvs,
})

describe('a receipt', () => {
  test.each([
    ['DELIVRD', 'DELIVERED', undefined],
    ['EXPIRED', 'FAILED', 607],
    ['DELETED', 'FAILED', 609],
    ['UNDELIV', 'FAILED', 601],
    ['REJECTD', 'FAILED', 608],
    ['ENROUTE', undefined, undefined],
    ['ACCEPTD', undefined, undefined],
    ['UNKNOWN', undefined, undefined],
  ])('that says %s', (stat, status, errorCode) => {
    const receipt = readReceipt(aReceipt(aText(stat)))
    expect(receipt).toMatchObject({ id: '0123456789', doneDate: '2601021531' })
    expect(receipt!.status).toBe(status)
    expect(receipt!.errorCode).toBe(errorCode)
  })

  test.each([
    [1, undefined],
    [2, 'DELIVERED'],
    [3, 'FAILED'],
    [4, 'FAILED'],
    [5, 'FAILED'],
    [6, undefined],
    [7, undefined],
    [8, 'FAILED'],
  ])('in optional parameters alone, state %i', (messageState, status) => {
    const receipt = readReceipt(aReceipt('', { receiptedMessageId: 'AB12', messageState }))
    expect(receipt!.id).toBe('AB12')
    expect(receipt!.status).toBe(status)
  })

  test('keeps the operator’s error beside the class of ours', () => {
    const networkErrorCode = Buffer.from([3, 0, 27])
    expect(readReceipt(aReceipt(aText('UNDELIV', '027'), { networkErrorCode }))).toMatchObject({
      errorCode: 603,
      operatorError: '3/27',
    })
    expect(readReceipt(aReceipt(aText('UNDELIV', '0C4')))).toMatchObject({ errorCode: 601, operatorError: '0C4' })
    expect(readReceipt(aReceipt(aText('DELIVRD')))).not.toHaveProperty('operatorError')
  })

  test('is read in the spellings operators use', () => {
    expect(readReceiptText('ID: 5 SUBMITDATE:260102153000 donedate:260102153100 STAT:DELIVERED ERR:0')).toEqual({
      id: '5',
      stat: 'DELIVERED',
      err: '0',
      doneDate: '260102153100',
    })
    expect(readReceipt(aReceipt('id:a_b@c stat:DELIVRD'))!.id).toBe('a_b@c')
  })

  test('in the payload counts as well, and an intermediate one ends nothing', () => {
    const messagePayload = Buffer.from(aText('DELIVRD'))
    expect(readReceipt({ esmClass: 4, dataCoding: 0, tlvs: { messagePayload } })!.status).toBe('DELIVERED')
    expect(readReceipt(aReceipt(aText('DELIVRD'), {}, 0x20))!.status).toBeUndefined()
  })

  test('is what the SMSC marked as one, not what a subscriber wrote', () => {
    expect(isReceipt(aReceipt(aText('DELIVRD'), {}, 0))).toBe(false)
    expect(isReceipt(aReceipt(aText('DELIVRD'), {}, 0x40))).toBe(false)
    expect(isReceipt(aReceipt('', { receiptedMessageId: '1' }, 0))).toBe(true)
    expect(isReceipt(aReceipt('', {}, 4))).toBe(true)
  })

  test('without an id is none, and no octets stop us', () => {
    expect(readReceipt(aReceipt('stat:DELIVRD'))).toBeUndefined()
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.uint8Array({ maxLength: 255 }),
        fc.uint8Array({ maxLength: 5 }),
        (coding, octets, error) => {
          const tlvs = { networkErrorCode: Buffer.from(error) }
          readReceipt({ esmClass: 4, dataCoding: coding, shortMessage: Buffer.from(octets), tlvs })
        },
      ),
    )
  })

  test('has an id and an error that can be kept, whatever controls stand in them', () => {
    expect(readReceipt(aReceipt('id:123\0 stat:UNDELIV err:027\0'))).toMatchObject({ id: '123', operatorError: '027' })
    expect(readReceipt(aReceipt('id:123 stat:DELIVRD err:000\0'))).toEqual({ id: '123', status: 'DELIVERED' })
    const told = { receiptedMessageId: '12\u00013', messageState: 2 }
    expect(readReceipt(aReceipt('', told))).toMatchObject({ id: '123', status: 'DELIVERED' })
    const { operatorError } = readReceipt(aReceipt(`id:1 stat:UNDELIV err:${'7'.repeat(220)}`))!
    expect(operatorError).toBe('7'.repeat(200))
  })

  test('whose id is endless, or nothing but controls, has the one of its text, or none', () => {
    const endless = { receiptedMessageId: '7'.repeat(201), messageState: 2 }
    expect(readReceipt(aReceipt('id:5', endless))).toMatchObject({ id: '5' })
    expect(readReceipt(aReceipt('', endless))).toBeUndefined()
    expect(readReceipt(aReceipt('id:\u0001 stat:DELIVRD'))).toBeUndefined()
  })

  test('was done at a moment, when the zone is known', () => {
    expect(momentOf('2601021530', 180)).toEqual(new Date('2026-01-02T12:30:00Z'))
    expect(momentOf('260102153045', 0)).toEqual(new Date('2026-01-02T15:30:45Z'))
    expect(momentOf('nonsense', 0)).toBeUndefined()
  })

  test('was not done in the future, though the zone be wrong', () => {
    const now = Date.UTC(2026, 0, 2, 12, 30)
    expect(momentOf('2601021530', 180, now)).toEqual(new Date(now))
    expect(momentOf('2601021530', 0, now)).toEqual(new Date(now))
    expect(momentOf('2601021229', 0, now)).toEqual(new Date('2026-01-02T12:29:00Z'))
  })
})

describe('ids of answers and receipts', () => {
  test.each<[ReceiptIds, string, string]>([
    ['exact', '00aB', '00aB'],
    ['same', '00AB12', 'ab12'],
    ['same', '123', '0000000123'],
    ['same', 'x-00Ab', 'x-00Ab'],
    ['hex-decimal', '499602D2', '1234567890'],
    ['hex-decimal', '00499602d2', '01234567890'],
    ['decimal-hex', '1234567890', '499602D2'],
  ])('meet under "%s": %s and %s', (setting, answered, receipted) => {
    const ids = createMessageIds(setting)
    expect(ids.receipted(receipted, '')).toBe(ids.submitted(answered, ''))
  })

  test('a change of the setting finds what was sent before it, but to or from "exact" only ids that are plain', () => {
    const kept = createMessageIds('same').submitted('00AB', '')
    expect(createMessageIds('hex-decimal').receipted('171', '')).toBe(kept)
    expect(createMessageIds('exact').receipted('00AB', '')).not.toBe(kept)
    expect(createMessageIds('exact').receipted('1234', '')).toBe(createMessageIds('same').submitted('1234', ''))
  })

  test('every number meets itself, however both sides write it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.nat(5), (number, zeros) => {
        const [hex, decimal] = [number.toString(16), number.toString()]
        const padded = (id: string) => '0'.repeat(zeros) + id.toUpperCase()
        expect(submittedId(padded(decimal), 'hex-decimal')).toBe(keptId(padded(hex), 'hex-decimal'))
        expect(submittedId(padded(hex), 'decimal-hex')).toBe(keptId(padded(decimal), 'decimal-hex'))
        expect(submittedId(padded(hex), 'same')).toBe(keptId(hex, 'same'))
      }),
    )
  })

  const numberOf = (i: number) => `7916${String(i).padStart(7, '0')}`

  test.each<[string, (n: number) => string, (n: number) => string]>([
    ['the same', n => String(n), n => String(n)],
    ['zeros in front', n => String(n), n => String(n).padStart(10, '0')],
    ['hexadecimal, then decimal', n => n.toString(16).toUpperCase(), n => String(n)],
    ['decimal, then hexadecimal', n => String(n), n => n.toString(16)],
  ])('"auto" finds out: %s', (_, answered, receipted) => {
    const ids = createMessageIds('auto')
    const kept = Array.from({ length: 500 }, (_, i) => ids.submitted(answered(1000 + i), numberOf(i)))
    for (let i = 0; i < 200; i++) expect(ids.receipted(receipted(1000 + i), `+${numberOf(i)}`)).toBe(kept[i])
    // And of messages it never saw, such as those of another process.
    expect(ids.receipted(receipted(99_999), '79990000000')).toBe(keptId(answered(99_999), 'auto'))
  })

  test('"auto" says nothing as long as it knows nothing, then guesses "same"', () => {
    const ids = createMessageIds('auto')
    expect(ids.receipted('12', '79160000000')).toBeUndefined()
    expect(ids.guess('0012')).toBe('12')
  })

  test('"auto" tells what it has learnt, and another that is told reads what it never saw', () => {
    const learnt: string[] = []
    const ids = createMessageIds('auto', relation => learnt.push(relation))
    for (let i = 0; i < 3; i++) {
      ids.submitted((1000 + i).toString(16), numberOf(i))
      ids.receipted(String(1000 + i), numberOf(i))
    }
    expect(learnt).toEqual(['hex-decimal'])

    const later = createMessageIds('auto')
    later.recall(learnt[0]!)
    expect(later.receipted('99999', numberOf(9))).toBe('1869f')
  })

  test('"auto" believes its own eyes more than what it was told', () => {
    const learnt: string[] = []
    const ids = createMessageIds('auto', relation => learnt.push(relation))
    ids.recall('nonsense')
    expect(ids.receipted('99999', numberOf(9))).toBeUndefined()
    ids.recall('hex-decimal')
    for (let i = 0; i < 2; i++) {
      ids.submitted(String(1000 + i), numberOf(i))
      expect(ids.receipted(String(1000 + i), numberOf(i))).toBe(String(1000 + i))
    }
    expect(learnt).toEqual(['same'])
    expect(ids.receipted('99999', numberOf(9))).toBe('99999')
  })

  test('"auto" is not deceived by ids that exist in both number systems', () => {
    const ids = createMessageIds('auto')
    ids.submitted('10', numberOf(1)) // 16 in decimal
    ids.submitted('16', numberOf(2)) // 22 in decimal
    expect(ids.receipted('16', numberOf(1))).toBe('10')
    expect(ids.receipted('22', numberOf(2))).toBe('16')
  })
})
