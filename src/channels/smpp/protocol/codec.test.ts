import fc from 'fast-check'
import smpp from 'smpp'
import { describe, expect, test } from 'vitest'
import { decode, encode, HEADER_BYTES } from './codec.ts'
import { Framer, MOST_PDU_BYTES } from './framer.ts'
import { type Command, commands, type Draft, type Kind, type Malformed, type Pdu, tlvs } from './pdu.ts'
import { status } from './status.ts'

const commandNames = Object.keys(commands) as Command[]

const values: Record<Kind, fc.Arbitrary<number | string | Buffer>> = {
  int8: fc.integer({ min: 0, max: 0xff }),
  int16: fc.integer({ min: 0, max: 0xffff }),
  int32: fc.integer({ min: 0, max: 0xffffffff }),
  text: fc.array(fc.integer({ min: 1, max: 0x7f }), { maxLength: 30 }).map(codes => String.fromCharCode(...codes)),
  bytes: fc.uint8Array({ maxLength: 255 }).map(bytes => Buffer.from(bytes)),
}

const sequences = fc.integer({ min: 1, max: 0x7fffffff })

const tlvSets = fc
  .record(Object.fromEntries(Object.entries(tlvs).map(([name, [, kind]]) => [name, values[kind]])), {
    requiredKeys: [],
  })
  .map(set => set as Draft['tlvs'])

const draftOf = (command: Command): fc.Arbitrary<Draft> =>
  fc
    .record({
      ...Object.fromEntries(commands[command].fields.map(([name, kind]) => [name, values[kind]])),
      command: fc.constant(command),
      status: fc.constant(0),
      sequence: sequences,
      tlvs: tlvSets,
    })
    .map(draft => draft as unknown as Draft)

const drafts = fc.oneof(...commandNames.map(draftOf))

const read = (buffer: Buffer) => decode(buffer, 0, buffer.length)

describe('the codec', () => {
  test('reads every PDU as it was written', () => {
    fc.assert(
      fc.property(drafts, draft => {
        expect(read(encode(draft))).toEqual(draft)
      }),
      { numRuns: 500 },
    )
  })

  test('fills missing fields with 0 or an empty value', () => {
    expect(read(encode({ command: 'submit_sm', sequence: 7 }))).toMatchObject({
      sequence: 7,
      serviceType: '',
      sourceAddrTon: 0,
      shortMessage: Buffer.alloc(0),
      tlvs: {},
    })
  })

  test('writes an error without a body, and reads an answer without a body', () => {
    const refusal = encode({ command: 'submit_sm_resp', sequence: 7, status: 0x58, messageId: 'x' })
    expect(refusal.length).toBe(HEADER_BYTES)
    expect(read(refusal)).toMatchObject({ command: 'submit_sm_resp', status: 0x58, messageId: '' })
  })

  test('keeps unknown and repeated optional parameters undecoded', () => {
    const others = [
      { tag: 0x1401, value: Buffer.from('of the vendor') },
      { tag: 0x0381, value: Buffer.from('another number') },
    ]
    const callbackNum = Buffer.from('a number')
    const pdu = read(encode({ command: 'deliver_sm', sequence: 1, tlvs: { callbackNum, others } }))
    expect((pdu as Pdu<'deliver_sm'>).tlvs).toEqual({ callbackNum, others })
  })

  test('accepts numbers of unusual width and texts without a NUL in optional parameters', () => {
    const others = [
      { tag: 0x0427, value: Buffer.from([0, 2]) },
      { tag: 0x001e, value: Buffer.from('42') },
    ]
    const pdu = read(encode({ command: 'deliver_sm', sequence: 1, tlvs: { others } })) as Pdu<'deliver_sm'>
    expect(pdu.tlvs).toEqual({ messageState: 2, receiptedMessageId: '42' })
  })

  test('refuses to write values that cannot be encoded', () => {
    const draft = { command: 'submit_sm', sequence: 1 } as const
    expect(() => encode({ ...draft, sourceAddr: 'a\0b' })).toThrow(RangeError)
    expect(() => encode({ ...draft, sourceAddr: 'Вести' })).toThrow(RangeError)
    expect(() => encode({ ...draft, shortMessage: Buffer.alloc(256) })).toThrow(RangeError)
    expect(() => encode({ ...draft, tlvs: { messagePayload: Buffer.alloc(0x10000) } })).toThrow(RangeError)
    expect(() => encode({ ...draft, tlvs: { sarMsgRefNum: 0x10000 } })).toThrow(RangeError)
  })

  test('reports the error of an unreadable PDU with its sequence number', () => {
    const whole = encode({ command: 'deliver_sm', sequence: 9, tlvs: { messageState: 2 } })
    expect(decode(whole, 0, 20)).toMatchObject({ sequence: 9, status: status.ESME_RINVCMDLEN })
    expect(decode(whole, 0, whole.length - 1)).toMatchObject({ sequence: 9, status: status.ESME_RINVOPTPARSTREAM })
    expect(decode(whole, 0, whole.length - 3)).toMatchObject({ sequence: 9, status: status.ESME_RINVOPTPARSTREAM })
    whole.writeUInt32BE(0x77, 4)
    expect(read(whole)).toMatchObject({ command: 'malformed', sequence: 9, status: status.ESME_RINVCMDID })
  })
})

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Fields that the package changes: it reads times as dates, and short messages as texts. */
const TIMES = ['scheduleDeliveryTime', 'validityPeriod', 'finalDate']
/** The package repeats or restructures these parameters, or has another width for them. */
const ITS_OWN_WAY = [
  'callbackNumPresInd',
  'callbackNumAtag',
  'callbackNum',
  'sourceTelematicsId',
  'messagePayload',
  'alertOnMessageDelivery',
]

const shared = drafts.map(draft => {
  const fields = Object.entries(draft).map(([name, value]) => [name, TIMES.includes(name) ? '' : value])
  const plain = Object.fromEntries(fields) as Draft
  const tlvEntries = Object.entries(draft.tlvs ?? {}).filter(
    ([name]) => !ITS_OWN_WAY.includes(name) && !(name in draft),
  )
  return {
    ...plain,
    ...('dataCoding' in plain ? { dataCoding: 4 } : {}),
    tlvs: Object.fromEntries(tlvEntries),
  } as Draft
})

function asThePackageHasIt(draft: Draft) {
  const { command: _, status: __, sequence, tlvs: optional, ...fields } = draft
  const named = Object.entries({ ...fields, ...optional }).map(([name, value]) => [snake(name), value])
  return { sequence_number: sequence, ...Object.fromEntries(named) }
}

describe('compared with the package smpp', () => {
  test('both write the same octets', () => {
    fc.assert(
      fc.property(shared, draft => {
        const theirs = new smpp.PDU(draft.command, asThePackageHasIt(draft)).toBuffer()
        expect(read(theirs)).toEqual(draft)
        if (Object.keys(draft.tlvs!).length === 0) expect(encode(draft).equals(theirs)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('the package reads the PDUs that we write', () => {
    fc.assert(
      fc.property(shared, draft => {
        const theirs = new smpp.PDU(encode(draft))
        expect(theirs.command).toBe(draft.command)
        expect(theirs.command_status).toBe(0)
        for (const [name, value] of Object.entries(asThePackageHasIt(draft))) {
          const seen = theirs[name]?.message ?? theirs[name]
          if (name !== 'short_message') expect(seen, name).toEqual(value)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('every command and parameter of our tables has the number of the package', () => {
    for (const command of commandNames) expect(smpp.commands[command]?.id, command).toBe(commands[command].id)
    for (const [name, [tag]] of Object.entries(tlvs)) expect(smpp.tlvs[snake(name)]?.id, name).toBe(tag)
  })
})

function frame(chunks: Iterable<Buffer>, mostBytes?: number) {
  const read: (Pdu | Malformed)[] = []
  const broken: Malformed[] = []
  let mostHeld = 0
  const onPdu = (pdu: Pdu | Malformed) => void read.push(pdu)
  const onBroken = (malformed: Malformed) => void broken.push(malformed)
  const framer = new Framer({ onPdu, onMalformed: onPdu, onBroken }, mostBytes)
  for (const chunk of chunks) {
    framer.push(chunk)
    mostHeld = Math.max(mostHeld, framer.partialBytes)
  }
  return { read, broken, mostHeld }
}

function* cut(stream: Buffer, sizes: number[]) {
  for (let at = 0, i = 0; at < stream.length; i++) {
    const size = sizes[i % sizes.length]!
    yield stream.subarray(at, at + size)
    at += size
  }
}

const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 10 })

describe('the framer', () => {
  test('finds every PDU in a stream, for any chunks', () => {
    fc.assert(
      fc.property(fc.array(drafts, { minLength: 1, maxLength: 5 }), cuts, (list, sizes) => {
        const { read, broken } = frame(cut(Buffer.concat(list.map(encode)), sizes))
        expect(broken).toEqual([])
        expect(read).toEqual(list)
      }),
      { numRuns: 200 },
    )
  })

  test('continues after an unreadable PDU', () => {
    const link = encode({ command: 'enquire_link', sequence: 2 })
    const unknown = Buffer.from(encode({ command: 'enquire_link', sequence: 1 }))
    unknown.writeUInt32BE(0x4242, 4)
    const { read } = frame([Buffer.concat([unknown, link])])
    expect(read.map(({ command, sequence }) => [command, sequence])).toEqual([
      ['malformed', 1],
      ['enquire_link', 2],
    ])
  })

  test.each([
    ['too long', MOST_PDU_BYTES + 1],
    ['absurd', 0xffffffff],
    ['shorter than a header', 15],
    ['nothing', 0],
  ])(
    'a length that is %s is reported at its fourth byte, once, with the sequence number if it has arrived',
    (_, length) => {
      const bytes = Buffer.from(encode({ command: 'enquire_link', sequence: 77 }))
      bytes.writeUInt32BE(length, 0)
      for (const [size, sequence] of [
        [1, 0],
        [7, 0],
        [1000, 77],
      ] as const) {
        const { read, broken } = frame(cut(Buffer.concat([bytes, bytes, bytes]), [size]))
        expect(read).toEqual([])
        expect(broken).toMatchObject([{ sequence, status: status.ESME_RINVCMDLEN }])
      }
      expect(frame([bytes.subarray(0, 3)]).broken).toEqual([])
      expect(frame([bytes.subarray(0, 2), bytes.subarray(2, 4)]).broken).toHaveLength(1)
    },
  )

  test.each([
    ['TLS', '1503030002', 'the other side speaks TLS, and this connection does not: set tls=true'],
    ['HTTP', '485454502f', 'the other side speaks HTTP, not SMPP: check host and port'],
    ['SSH', '5353482d32', 'a PDU of 1397966893 octets'],
  ])('a peer that speaks %s is recognised by its first bytes', (_, first, reason) => {
    expect(frame([Buffer.from(first, 'hex')]).broken).toMatchObject([{ reason }])
  })

  test('calls no handler after it was stopped, even in the middle of a chunk', () => {
    const link = encode({ command: 'enquire_link', sequence: 2 })
    const read: unknown[] = []
    const framer = new Framer({
      onPdu(pdu) {
        read.push(pdu)
        framer.stop()
      },
      onMalformed() {},
      onBroken() {},
    })
    framer.push(Buffer.concat([link, link, link]))
    framer.push(link)
    expect(read.length).toBe(1)
  })

  test('random octets neither crash nor hang it, and it never stores more than a PDU', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 20 }), chunks => {
        const { mostHeld } = frame(chunks.map(chunk => Buffer.from(chunk)))
        expect(mostHeld).toBeLessThanOrEqual(MOST_PDU_BYTES)
      }),
      { numRuns: 2000 },
    )
  })

  test('mutated real PDUs neither crash nor hang it', () => {
    const mutation = fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) })
    fc.assert(
      fc.property(
        fc.array(drafts, { minLength: 1, maxLength: 4 }),
        fc.array(mutation),
        cuts,
        (list, changes, sizes) => {
          const stream = Buffer.concat(list.map(encode))
          for (const { at, value } of changes) stream[at % stream.length] = value
          const { read, broken, mostHeld } = frame(cut(stream, sizes))
          expect(broken.length).toBeLessThanOrEqual(1)
          expect(read.length).toBeLessThanOrEqual(stream.length / HEADER_BYTES)
          expect(mostHeld).toBeLessThanOrEqual(MOST_PDU_BYTES)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('a truncated PDU with a right length is read or malformed', () => {
    fc.assert(
      fc.property(drafts, fc.nat(), (draft, cutAt) => {
        const whole = encode(draft)
        const length = HEADER_BYTES + (cutAt % (whole.length - HEADER_BYTES + 1))
        const short = Buffer.from(whole.subarray(0, length))
        short.writeUInt32BE(length, 0)
        const { read, broken } = frame([short])
        expect(broken).toEqual([])
        expect(read.length).toBe(1)
      }),
      { numRuns: 1000 },
    )
  })
})
