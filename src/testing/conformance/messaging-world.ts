import type { ChannelType } from '../../base/channel-types.ts'
import { uuid7 } from '../../base/uuid7.ts'
import type { Pool } from '../../db/sql.ts'
import { storeDocument } from '../../domain/documents/documents.ts'
import { type KeyType, keyTypes } from '../../domain/keys/key.ts'
import { countAccepted } from '../../domain/statistics/statistics.ts'
import { createTemplate } from '../../domain/templates/templates.ts'
import { requireAnyVerifier } from '../../domain/verifiers/verifiers.ts'
import { beginSession } from '../../domain/widgets/sessions.ts'
import type { SessionKeys } from '../../domain/widgets/widget.ts'
import { aCompany, aPartner, aSender, numberOf } from '../factories.ts'
import { aKey } from '../messaging-api.ts'
import { aVerifier } from '../verification.ts'
import { aWidget, SHOP } from '../widget.ts'
import { PDF } from './world.ts'

/** Two companies with every object that a request can name: our own, and a foreign company that must stay unknown. */
export type MessagingWorld = { mine: MessagingSide; foreign: MessagingSide }

export type MessagingSide = {
  companyId: number
  keys: Record<KeyType, string>
  /** Names in a state in which every field can be changed. */
  draftId: number
  messengerNameId: number
  documentId: string
  templateId: number
  /** A message of FLASHCALL, and one of another channel. */
  flashcallUuid: string
  /** A verifier whose limits no test reaches. */
  gatewayId: string
  smsUuid: string
  /** The key of a widget session that waits for its code. */
  sessionKey: string
}

export const aMessagingWorld = async (sql: Pool): Promise<MessagingWorld> => ({
  mine: await aMessagingSide(sql),
  foreign: await aMessagingSide(sql),
})

export async function aMessagingSide(sql: Pool): Promise<MessagingSide> {
  const companyId = await aCompany(sql, await aPartner(sql))
  const keys = {} as Record<KeyType, string>
  for (const type of keyTypes) keys[type] = (await aKey(sql, companyId, type)).key
  const { senderId: draftId } = await aSender(sql, companyId)
  const { senderId: messengerNameId } = await aSender(sql, companyId, { channelType: 'WHATSAPP' })
  const { id: documentId } = await storeDocument(sql, companyId, { filename: 'charter.pdf', content: PDF })
  return {
    companyId,
    keys,
    draftId,
    messengerNameId,
    documentId,
    templateId: await aTemplate(sql, companyId),
    flashcallUuid: await aSingle(sql, companyId, 'FLASHCALL'),
    gatewayId: await aPatientVerifier(sql, companyId),
    smsUuid: await aSingle(sql, companyId, 'SMS'),
    sessionKey: await aSessionKey(sql, companyId),
  }
}

/** The key of a visitor of a widget whose code is to be sent. */
export async function aSessionKey(sql: Pool, companyId: number): Promise<string> {
  const widget = await requireAnyVerifier(sql, 'WIDGET', await aWidget(sql, companyId, { page: { isBuilder: true } }))
  const begun = await beginSession(sql, widget, {
    widgetId: widget.verifierId,
    destination: '79040000001',
    clientAddress: '203.0.113.7',
    network: '203.0.113.7',
    origin: SHOP,
    language: null,
    channelType: 'SMS',
  })
  return (begun as SessionKeys).key
}

function aPatientVerifier(sql: Pool, companyId: number): Promise<string> {
  const most = 1_000_000
  const counts = { perNumber: most, perAddress: most, perPrefix: most, perVerifier: most, perCompany: most }
  return aVerifier(sql, companyId, { pauseSeconds: 10, limits: { ...counts, leastConfirmed: 0 } })
}

async function aTemplate(sql: Pool, companyId: number): Promise<number> {
  const template = {
    channelType: 'WHATSAPP',
    trafficType: 'SERVICE',
    pattern: 'Order %d is ready',
    senderId: null,
    content: null,
    validFrom: new Date('2026-01-01T00:00:00Z'),
    validTo: null,
  } as const
  const { templateId } = await sql.begin(tx => createTemplate(tx, companyId, template, new Date()))
  return templateId
}

/** Writes a message into its table. The engine does not send it. */
export async function aSingle(sql: Pool, companyId: number, channelType: ChannelType): Promise<string> {
  const now = new Date()
  const uuid = uuid7(now)
  await sql.begin(async tx => {
    await tx`
      insert into messages (company_id, message_uuid, price, status, parts, brand_id, destination, channel_type)
      values (${companyId}, ${uuid}, 0, 'SENT', 1, 1, ${numberOf.MTS}, ${channelType})`
    await countAccepted(tx, companyId, [{ channelType, trafficType: 'PROMO', brandId: 1, parts: 1 }], now)
  })
  return uuid
}
