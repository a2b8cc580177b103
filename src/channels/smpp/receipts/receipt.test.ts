import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tlvs } from '../protocol/pdu.ts'
import { type Evidence, readingOf, type UnreadReceipt } from './id-evidence.ts'
import { createMessageIds, keptId, type LearntIds, type ReceiptIds, submittedId } from './message-ids.ts'
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

  test('in the payload is read too, and an intermediate receipt is not final', () => {
    const messagePayload = Buffer.from(aText('DELIVRD'))
    expect(readReceipt({ esmClass: 4, dataCoding: 0, tlvs: { messagePayload } })!.status).toBe('DELIVERED')
    expect(readReceipt(aReceipt(aText('DELIVRD'), {}, 0x20))!.status).toBeUndefined()
  })

  test('is recognised by the marks of the SMSC, not by the text of a subscriber', () => {
    expect(isReceipt(aReceipt(aText('DELIVRD'), {}, 0))).toBe(false)
    expect(isReceipt(aReceipt(aText('DELIVRD'), {}, 0x40))).toBe(false)
    expect(isReceipt(aReceipt('', { receiptedMessageId: '1' }, 0))).toBe(true)
    expect(isReceipt(aReceipt('', {}, 4))).toBe(true)
  })

  test('without an id is ignored, and no octets make the reader throw', () => {
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

  test('has an id and an error without control characters', () => {
    expect(readReceipt(aReceipt('id:123\0 stat:UNDELIV err:027\0'))).toMatchObject({ id: '123', operatorError: '027' })
    expect(readReceipt(aReceipt('id:123 stat:DELIVRD err:000\0'))).toEqual({ id: '123', status: 'DELIVERED' })
    const told = { receiptedMessageId: '12\u00013', messageState: 2 }
    expect(readReceipt(aReceipt('', told))).toMatchObject({ id: '123', status: 'DELIVERED' })
    const { operatorError } = readReceipt(aReceipt(`id:1 stat:UNDELIV err:${'7'.repeat(220)}`))!
    expect(operatorError).toBe('7'.repeat(200))
  })

  test('whose id is very long, or has only control characters, has the id of its text, or none', () => {
    const endless = { receiptedMessageId: '7'.repeat(201), messageState: 2 }
    expect(readReceipt(aReceipt('id:5', endless))).toMatchObject({ id: '5' })
    expect(readReceipt(aReceipt('', endless))).toBeUndefined()
    expect(readReceipt(aReceipt('id:\u0001 stat:DELIVRD'))).toBeUndefined()
  })

  test('has a time if the zone is known', () => {
    expect(momentOf('2601021530', 180)).toEqual(new Date('2026-01-02T12:30:00Z'))
    expect(momentOf('260102153045', 0)).toEqual(new Date('2026-01-02T15:30:45Z'))
    expect(momentOf('nonsense', 0)).toBeUndefined()
  })

  test('has no time in the future, even with a wrong zone', () => {
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
  ])('match with "%s": %s and %s', (setting, answered, receipted) => {
    const ids = createMessageIds(setting)
    expect(ids.receipted(receipted, '')).toEqual({ providerId: ids.submitted(answered, '') })
  })

  test('a change of the setting still matches older messages, but to or from "exact" only with plain ids', () => {
    const kept = createMessageIds('same').submitted('00AB', '')
    const receipted = (setting: ReceiptIds, id: string) => createMessageIds(setting).receipted(id, '')!.providerId
    expect(receipted('hex-decimal', '171')).toBe(kept)
    expect(receipted('exact', '00AB')).not.toBe(kept)
    expect(receipted('exact', '1234')).toBe(createMessageIds('same').submitted('1234', ''))
  })

  test('every number matches itself, in all forms of both sides', () => {
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
    ['zeros in front', n => String(n), n => String(n).padStart(15, '0')],
    ['hexadecimal, then decimal', n => n.toString(16).toUpperCase(), n => String(n)],
    ['decimal, then hexadecimal', n => String(n), n => n.toString(16)],
    ['hexadecimal in another case', n => n.toString(16), n => n.toString(16).toUpperCase()],
  ])('"auto" finds the reading from long ids: %s', (_, answered, receipted) => {
    const FIRST = 123_456_789_000
    const learnt: LearntIds[] = []
    const ids = createMessageIds('auto', found => learnt.push(found))
    const kept = Array.from({ length: 500 }, (_, i) => ids.submitted(answered(FIRST + i), numberOf(i)))
    for (let i = 0; i < 200; i++) {
      expect(ids.receipted(receipted(FIRST + i), `+${numberOf(i)}`)).toEqual({ providerId: kept[i] })
    }
    // Receipts of messages of another process are read too.
    const other = ids.receipted(receipted(FIRST + 99_999), '79990000000')
    expect(other).toEqual({ providerId: keptId(answered(FIRST + 99_999), 'auto') })
    expect(learnt).toHaveLength(1)
  })

  test('"auto" reads no id before the reading is found, and learns nothing from short ids', () => {
    const ids = createMessageIds('auto')
    expect(ids.receipted('12', numberOf(1))).toBeUndefined()
    ids.submitted('c', numberOf(1))
    expect(ids.receipted('12', numberOf(1))).toBeUndefined()
    expect(ids.receipted('x-12', numberOf(1))).toEqual({ providerId: 'x-12' })
  })

  test('"auto" with a given reading reads ids of unknown messages; with a short id, the number counts too', () => {
    const ids = createMessageIds('auto')
    ids.recall({ relation: 'hex-decimal', byAddress: true })
    expect(ids.receipted('99999', numberOf(9))).toEqual({ providerId: '1869f', subscriber: numberOf(9) })
    expect(ids.receipted('123456789000', numberOf(9))).toEqual({ providerId: '1cbe991a08' })
    expect(ids.receipted('1a', numberOf(9))).toBeUndefined()
  })

  test('"auto" prefers its own evidence to a given reading', () => {
    const learnt: LearntIds[] = []
    const ids = createMessageIds('auto', found => learnt.push(found))
    ids.recall({ relation: 'hex-decimal', byAddress: true })
    ids.submitted('123456789000', numberOf(1))
    expect(ids.receipted('123456789000', numberOf(1))).toEqual({ providerId: '123456789000' })
    expect(learnt).toEqual([{ relation: 'same', byAddress: true }])
  })
})

describe('the reading from all receipts together', () => {
  const forms: Record<string, { relation: string; answered: (n: number) => string; receipted: (n: number) => string }> =
    {
      decimal: { relation: 'same', answered: String, receipted: String },
      padded: { relation: 'same', answered: String, receipted: n => String(n).padStart(12, '0') },
      hexadecimal: { relation: 'same', answered: n => n.toString(16), receipted: n => n.toString(16).toUpperCase() },
      'hex-decimal': { relation: 'hex-decimal', answered: n => n.toString(16).toUpperCase(), receipted: String },
      'decimal-hex': { relation: 'decimal-hex', answered: String, receipted: n => n.toString(16) },
    }

  /** An operator that counts its ids, with its answers and receipts. */
  function evidenceOf(world: {
    form: string
    first: number
    numbers: number
    messages: number
    unanswered?: Set<number>
    reported?: (i: number) => boolean
  }): Evidence & { relation: string } {
    const { relation, answered, receipted } = forms[world.form]!
    const { first, numbers, messages, unanswered = new Set(), reported = () => true } = world
    const numberOf = (i: number) => `7916${String(i % numbers).padStart(7, '0')}`
    const submitted = new Map<string, string[]>()
    const receipts: UnreadReceipt[] = []
    for (let i = 0; i < messages; i++) {
      const kept = keptId(answered(first + i), 'auto')
      if (!unanswered.has(i)) submitted.set(kept, [...(submitted.get(kept) ?? []), numberOf(i)])
      if (reported(i)) receipts.push({ id: receipted(first + i), subscriber: numberOf(i) })
    }
    return { relation, receipts, destinationsOf: kept => submitted.get(kept) ?? [], unanswered: unanswered.size }
  }

  test.each(Object.keys(forms))('sixty messages to one number, ids from 1: %s', form => {
    const evidence = evidenceOf({ form, first: 1, numbers: 1, messages: 60 })
    expect(readingOf(evidence)).toEqual({ relation: evidence.relation, byAddress: true })
  })

  test('no result while receipts fit several readings, or belong to unknown messages', () => {
    const nine = evidenceOf({ form: 'hex-decimal', first: 1, numbers: 1, messages: 9 })
    expect(readingOf(nine)).toBeUndefined()
    const others = evidenceOf({ form: 'hex-decimal', first: 1000, numbers: 1, messages: 10 })
    const ours = evidenceOf({ form: 'hex-decimal', first: 1, numbers: 1, messages: 60 })
    expect(readingOf({ ...ours, receipts: [...others.receipts, ...ours.receipts] })).toBeUndefined()
    expect(readingOf({ ...ours, receipts: [] })).toBeUndefined()
  })

  test('many receipts without the number, or with another number, give a result by their ids', () => {
    const evidence = evidenceOf({ form: 'hex-decimal', first: 1, numbers: 60, messages: 60 })
    const unnamed = evidence.receipts.map(({ id }) => ({ id, subscriber: undefined }))
    expect(readingOf({ ...evidence, receipts: unnamed })).toEqual({ relation: 'hex-decimal', byAddress: false })
    expect(readingOf({ ...evidence, receipts: unnamed.slice(0, 12) })).toBeUndefined()
  })

  test('no operator leads to a wrong reading, and enough receipts lead to the right one', () => {
    const worlds = fc.record({
      form: fc.constantFrom(...Object.keys(forms)),
      first: fc.constantFrom(0, 1, 2, 7, 90, 250, 4000, 99_990, 123_456_789),
      numbers: fc.constantFrom(1, 2, 10, 1000),
      messages: fc.integer({ min: 1, max: 150 }),
      lost: fc.uniqueArray(fc.nat(149), { maxLength: 8 }),
      share: fc.constantFrom(0.1, 0.5, 1),
      seed: fc.nat(),
    })
    fc.assert(
      fc.property(worlds, ({ lost, share, seed, ...world }) => {
        const isReported = (i: number) => share === 1 || ((i * 2_654_435_761 + seed) >>> 0) % 100 < share * 100
        const unanswered = new Set(lost.filter(i => i < world.messages))
        const evidence = evidenceOf({ ...world, unanswered, reported: isReported })
        const reading = readingOf(evidence)
        if (reading) expect(reading.relation).toBe(evidence.relation)
        if (share === 1 && world.messages >= 100 && unanswered.size === 0) expect(reading).toBeDefined()
      }),
      { numRuns: 1000 },
    )
  })
})
