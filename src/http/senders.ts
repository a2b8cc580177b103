import Type, { type Static } from 'typebox'
import { channelTypes } from '../base/channel-types.ts'
import { invalid } from '../base/errors.ts'
import { moneyToNumber } from '../base/money.ts'
import { countryCodeOf } from '../base/phone/countries.ts'
import { readTimestamp } from '../base/time/timestamp.ts'
import { brands } from '../domain/numbering/brand.ts'
import { reviewStatuses } from '../domain/review/review.ts'
import { commonTypes, type NewSender, type Sender, type SenderChange } from '../domain/senders/sender.ts'
import { Answer, DateTime, Id, Nullable, OneOf } from './schemas.ts'

/** The form of sender names in both APIs. */

const SenderName = Type.String({ minLength: 1, maxLength: 64 })
const DocumentIds = Type.Array(Type.String({ format: 'uuid' }), { maxItems: 100 })

/** The fields of a new name without the company. The partner API names the company; in the messaging API the key has one. */
export const newSenderFields = {
  senderName: SenderName,
  channelType: OneOf(channelTypes),
  commonType: OneOf(commonTypes),
  brand: OneOf(brands),
  dateFrom: DateTime,
  countryId: Type.Optional(Id),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  documentIds: Type.Optional(DocumentIds),
}

export const SenderChangeBody = Type.Object({
  senderName: Type.Optional(SenderName),
  commonType: Type.Optional(OneOf(commonTypes)),
  dateFrom: Type.Optional(DateTime),
  dateTo: Type.Optional(DateTime),
  documentIds: Type.Optional(DocumentIds),
})

export const CountryCode = Type.String({ pattern: '^[A-Z]{2}$', description: 'two capital letters' })

export const SenderAnswer = Answer({
  id: Id,
  senderName: Type.String(),
  channelType: OneOf(channelTypes),
  counteragentName: Type.String(),
  counteragentInn: Type.String(),
  dateFrom: DateTime,
  dateTo: Nullable(DateTime),
  commonType: OneOf(commonTypes),
  brand: OneOf(brands),
  status: OneOf(reviewStatuses),
  suspended: Type.Boolean(),
  suspendReason: Type.Optional(Type.String()),
  fee: Nullable(Type.Number()),
  managerComment: Nullable(Type.String()),
  rejectedAt: Nullable(DateTime),
  createdAt: DateTime,
})

const NewSenderBody = Type.Object(newSenderFields)

const RUSSIA = 1

export function readNewSender({
  senderName,
  channelType,
  commonType,
  brand,
  dateFrom,
  countryId = RUSSIA,
  description,
  documentIds = [],
}: Static<typeof NewSenderBody>): NewSender {
  const countryCode = requireCountry(countryId)
  return {
    senderName,
    channelType,
    commonType,
    brand,
    countryCode,
    validFrom: timeOf(dateFrom),
    description,
    documentIds,
  }
}

function requireCountry(countryId: number): string {
  const code = countryCodeOf(countryId)
  if (!code) throw invalid('countryId: is unknown')
  return code
}

export const readSenderChange = ({
  senderName,
  commonType,
  dateFrom,
  dateTo,
  documentIds,
}: Static<typeof SenderChangeBody>): SenderChange => ({
  ...(senderName === undefined ? {} : { senderName }),
  ...(commonType === undefined ? {} : { commonType }),
  ...(dateFrom === undefined ? {} : { validFrom: timeOf(dateFrom) }),
  ...(dateTo === undefined ? {} : { validTo: timeOf(dateTo) }),
  ...(documentIds === undefined ? {} : { documentIds }),
})

/** The schema has validated the text. */
const timeOf = (text: string): Date => readTimestamp(text)!.time

export const presentSender = (sender: Sender) => ({
  id: sender.senderId,
  senderName: sender.senderName,
  channelType: sender.channelType,
  counteragentName: sender.counteragentName,
  counteragentInn: sender.counteragentInn,
  dateFrom: sender.validFrom.toISOString(),
  dateTo: sender.validTo?.toISOString() ?? null,
  commonType: sender.commonType,
  brand: sender.brand,
  status: sender.status,
  suspended: sender.suspended,
  ...(sender.suspendReason === null ? {} : { suspendReason: sender.suspendReason }),
  fee: sender.fee === null ? null : moneyToNumber(sender.fee),
  managerComment: sender.managerComment,
  rejectedAt: sender.rejectedAt?.toISOString() ?? null,
  createdAt: sender.createdAt.toISOString(),
})
