/**
 * SMPP 3.4 as tables: the fields of each command, in order, and the type of each optional parameter (TLV). The codec and
 * the types use these tables: a field that is added here is encoded, decoded and typed.
 *
 * `text` is a C-octet string. `bytes` is an octet string after a length octet (in a TLV, the whole value).
 */
export type Kind = 'int8' | 'int16' | 'int32' | 'text' | 'bytes'

export type Layout = readonly (readonly [name: string, kind: Kind])[]

const BIND = [
  ['systemId', 'text'],
  ['password', 'text'],
  ['systemType', 'text'],
  ['interfaceVersion', 'int8'],
  ['addrTon', 'int8'],
  ['addrNpi', 'int8'],
  ['addressRange', 'text'],
] as const

const SOURCE = [
  ['sourceAddrTon', 'int8'],
  ['sourceAddrNpi', 'int8'],
  ['sourceAddr', 'text'],
] as const

const DESTINATION = [
  ['destAddrTon', 'int8'],
  ['destAddrNpi', 'int8'],
  ['destinationAddr', 'text'],
] as const

const MESSAGE = [
  ['serviceType', 'text'],
  ...SOURCE,
  ...DESTINATION,
  ['esmClass', 'int8'],
  ['protocolId', 'int8'],
  ['priorityFlag', 'int8'],
  ['scheduleDeliveryTime', 'text'],
  ['validityPeriod', 'text'],
  ['registeredDelivery', 'int8'],
  ['replaceIfPresentFlag', 'int8'],
  ['dataCoding', 'int8'],
  ['smDefaultMsgId', 'int8'],
  ['shortMessage', 'bytes'],
] as const

const SYSTEM_ID = [['systemId', 'text']] as const
const MESSAGE_ID = [['messageId', 'text']] as const

export const commands = {
  generic_nack: { id: 0x80000000, fields: [] },
  bind_receiver: { id: 0x00000001, fields: BIND },
  bind_receiver_resp: { id: 0x80000001, fields: SYSTEM_ID },
  bind_transmitter: { id: 0x00000002, fields: BIND },
  bind_transmitter_resp: { id: 0x80000002, fields: SYSTEM_ID },
  bind_transceiver: { id: 0x00000009, fields: BIND },
  bind_transceiver_resp: { id: 0x80000009, fields: SYSTEM_ID },
  outbind: {
    id: 0x0000000b,
    fields: [
      ['systemId', 'text'],
      ['password', 'text'],
    ],
  },
  unbind: { id: 0x00000006, fields: [] },
  unbind_resp: { id: 0x80000006, fields: [] },
  enquire_link: { id: 0x00000015, fields: [] },
  enquire_link_resp: { id: 0x80000015, fields: [] },
  submit_sm: { id: 0x00000004, fields: MESSAGE },
  submit_sm_resp: { id: 0x80000004, fields: MESSAGE_ID },
  deliver_sm: { id: 0x00000005, fields: MESSAGE },
  deliver_sm_resp: { id: 0x80000005, fields: MESSAGE_ID },
  data_sm: {
    id: 0x00000103,
    fields: [
      ['serviceType', 'text'],
      ...SOURCE,
      ...DESTINATION,
      ['esmClass', 'int8'],
      ['registeredDelivery', 'int8'],
      ['dataCoding', 'int8'],
    ],
  },
  data_sm_resp: { id: 0x80000103, fields: MESSAGE_ID },
  query_sm: { id: 0x00000003, fields: [...MESSAGE_ID, ...SOURCE] },
  query_sm_resp: {
    id: 0x80000003,
    fields: [
      ['messageId', 'text'],
      ['finalDate', 'text'],
      ['messageState', 'int8'],
      ['errorCode', 'int8'],
    ],
  },
  cancel_sm: { id: 0x00000008, fields: [['serviceType', 'text'], ...MESSAGE_ID, ...SOURCE, ...DESTINATION] },
  cancel_sm_resp: { id: 0x80000008, fields: [] },
  replace_sm: {
    id: 0x00000007,
    fields: [
      ...MESSAGE_ID,
      ...SOURCE,
      ['scheduleDeliveryTime', 'text'],
      ['validityPeriod', 'text'],
      ['registeredDelivery', 'int8'],
      ['smDefaultMsgId', 'int8'],
      ['shortMessage', 'bytes'],
    ],
  },
  replace_sm_resp: { id: 0x80000007, fields: [] },
  alert_notification: {
    id: 0x00000102,
    fields: [...SOURCE, ['esmeAddrTon', 'int8'], ['esmeAddrNpi', 'int8'], ['esmeAddr', 'text']],
  },
} as const satisfies Record<string, { id: number; fields: Layout }>

export const tlvs = {
  destAddrSubunit: [0x0005, 'int8'],
  destNetworkType: [0x0006, 'int8'],
  destBearerType: [0x0007, 'int8'],
  destTelematicsId: [0x0008, 'int16'],
  sourceAddrSubunit: [0x000d, 'int8'],
  sourceNetworkType: [0x000e, 'int8'],
  sourceBearerType: [0x000f, 'int8'],
  sourceTelematicsId: [0x0010, 'int8'],
  qosTimeToLive: [0x0017, 'int32'],
  payloadType: [0x0019, 'int8'],
  additionalStatusInfoText: [0x001d, 'text'],
  receiptedMessageId: [0x001e, 'text'],
  msMsgWaitFacilities: [0x0030, 'int8'],
  privacyIndicator: [0x0201, 'int8'],
  sourceSubaddress: [0x0202, 'bytes'],
  destSubaddress: [0x0203, 'bytes'],
  userMessageReference: [0x0204, 'int16'],
  userResponseCode: [0x0205, 'int8'],
  sourcePort: [0x020a, 'int16'],
  destPort: [0x020b, 'int16'],
  sarMsgRefNum: [0x020c, 'int16'],
  languageIndicator: [0x020d, 'int8'],
  sarTotalSegments: [0x020e, 'int8'],
  sarSegmentSeqnum: [0x020f, 'int8'],
  scInterfaceVersion: [0x0210, 'int8'],
  callbackNumPresInd: [0x0302, 'int8'],
  callbackNumAtag: [0x0303, 'bytes'],
  numberOfMessages: [0x0304, 'int8'],
  callbackNum: [0x0381, 'bytes'],
  dpfResult: [0x0420, 'int8'],
  setDpf: [0x0421, 'int8'],
  msAvailabilityStatus: [0x0422, 'int8'],
  networkErrorCode: [0x0423, 'bytes'],
  messagePayload: [0x0424, 'bytes'],
  deliveryFailureReason: [0x0425, 'int8'],
  moreMessagesToSend: [0x0426, 'int8'],
  messageState: [0x0427, 'int8'],
  ussdServiceOp: [0x0501, 'int8'],
  displayTime: [0x1201, 'int8'],
  smsSignal: [0x1203, 'int16'],
  msValidity: [0x1204, 'bytes'],
  alertOnMessageDelivery: [0x130c, 'bytes'],
  itsReplyType: [0x1380, 'int8'],
  itsSessionInfo: [0x1383, 'bytes'],
} as const satisfies Record<string, readonly [tag: number, kind: Kind]>

type Value<K extends Kind> = K extends 'text' ? string : K extends 'bytes' ? Buffer : number
type FieldsOf<L extends Layout> = { [F in L[number] as F[0]]: Value<F[1]> }

export type Command = keyof typeof commands
export type TlvName = keyof typeof tlvs

/** The optional parameters of a PDU. `others` has unknown and repeated parameters, undecoded. */
export type Tlvs = { [N in TlvName]?: Value<(typeof tlvs)[N][1]> } & { others?: { tag: number; value: Buffer }[] }

type Fields<C extends Command> = FieldsOf<(typeof commands)[C]['fields']>

/** A PDU that was read. It has every field of its command. */
export type Pdu<C extends Command = Command> = C extends Command
  ? { command: C; status: number; sequence: number; tlvs: Tlvs } & Fields<C>
  : never

/** A PDU to write. Missing fields are 0 or empty. */
export type Draft<C extends Command = Command> = C extends Command
  ? { command: C; status?: number; sequence: number; tlvs?: Tlvs } & Partial<Fields<C>>
  : never

/** An unreadable PDU, with its sequence number and the status for the answer. */
export type Malformed = { command: 'malformed'; id: number; status: number; sequence: number; reason: string }

/** The bits of esm_class that we use. */
export const esmClass = { receipt: 0x04, messageType: 0x3c, udh: 0x40 } as const
