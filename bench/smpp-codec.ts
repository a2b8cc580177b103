import smpp from 'smpp'
import { decode, encode } from '../src/channels/smpp/protocol/codec.ts'
import type { Draft } from '../src/channels/smpp/protocol/pdu.ts'
import { type Figure, inTurn } from './figures.ts'

export const name = 'smpp-codec'
export const about = 'PDUs of SMPP written and read a second, beside the package smpp'

const PDUS = 50_000
const ROUNDS = 7

/** What a message costs: its submission out, the answer in, its receipt in, the acknowledgement out. */
export async function run(): Promise<Figure[]> {
  const written = await inTurn(
    ROUNDS,
    async () => perSecond(writeOurs),
    async () => perSecond(writeTheirs),
  )
  const read = await inTurn(
    ROUNDS,
    async () => perSecond(readOurs),
    async () => perSecond(readTheirs),
  )
  return [
    { what: 'written by us', value: written.ours, unit: 'PDU/s' },
    { what: 'written by the package smpp', value: written.floor, unit: 'PDU/s' },
    { what: 'written, to the package smpp', value: written.ratio, unit: '', target: { least: 2 } },
    { what: 'read by us', value: read.ours, unit: 'PDU/s' },
    { what: 'read by the package smpp', value: read.floor, unit: 'PDU/s' },
    { what: 'read, to the package smpp', value: read.ratio, unit: '', target: { least: 2 } },
  ]
}

const TEXT = Buffer.from('Your order 1234 is ready for collection. We wait for you every day from 9 to 21.')
const RECEIPT = Buffer.from(
  'id:1234567890 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:Your order',
)

/** No times in them: the package turns those into dates and back, which would flatter us. */
const submission = {
  sourceAddrTon: 5,
  sourceAddr: 'Tidings',
  destAddrTon: 1,
  destAddrNpi: 1,
  destinationAddr: '79161234567',
  registeredDelivery: 1,
  shortMessage: TEXT,
}
const theirSubmission = {
  source_addr_ton: 5,
  source_addr: 'Tidings',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '79161234567',
  registered_delivery: 1,
  data_coding: 0,
  short_message: TEXT,
}

const writeOurs = (sequence: number) =>
  encode({ command: 'submit_sm', sequence, ...submission }).length +
  encode({ command: 'deliver_sm_resp', sequence }).length

const writeTheirs = (sequence: number) =>
  new smpp.PDU('submit_sm', { sequence_number: sequence, ...theirSubmission }).toBuffer().length +
  new smpp.PDU('deliver_sm_resp', { sequence_number: sequence }).toBuffer().length

const answer = encode({ command: 'submit_sm_resp', sequence: 1, messageId: '1234567890' })
const receipt = encode({
  command: 'deliver_sm',
  sequence: 1,
  sourceAddr: '79161234567',
  destinationAddr: 'Tidings',
  esmClass: 4,
  shortMessage: RECEIPT,
  tlvs: { receiptedMessageId: '1234567890', messageState: 2 },
} satisfies Draft)

const readOurs = () =>
  decode(answer, 0, answer.length).command.length + decode(receipt, 0, receipt.length).command.length

const readTheirs = () => new smpp.PDU(answer).command.length + new smpp.PDU(receipt).command.length

/** Each turn of the measured work is two PDUs. */
function perSecond(work: (sequence: number) => number): number {
  let sum = 0
  const start = process.hrtime.bigint()
  for (let i = 1; i <= PDUS / 2; i++) sum += work(i)
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  // Reading the sum keeps the compiler from removing the work.
  if (sum <= 0) throw new Error('the measured work came to nothing')
  return PDUS / seconds
}
