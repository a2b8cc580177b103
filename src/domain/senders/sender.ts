import type { ClientChannel } from '../../base/channel-types.ts'
import { invalidField } from '../../base/errors.ts'
import type { Money } from '../../base/money.ts'
import type { Brand } from '../numbering/brand.ts'
import { beforeApproval, beforeDecision, ChangeableFields, untilTheEnd } from '../review/changeable-fields.ts'
import type { ReviewStatus } from '../review/review.ts'

export const commonTypes = [
  'PROMO',
  'COMMON',
  'MULTISIGNATURE',
  'INTERNATIONAL_VERIFY',
  'INTERNATIONAL_COMMON',
] as const

export type CommonType = (typeof commonTypes)[number]

export type Sender = {
  senderId: number
  companyId: number
  senderName: string
  channelType: ClientChannel
  commonType: CommonType
  brand: Brand
  countryCode: string
  validFrom: Date
  validTo: Date | null
  status: ReviewStatus
  suspended: boolean
  suspendReason: string | null
  fee: Money | null
  managerComment: string | null
  rejectedAt: Date | null
  /** The limit of this sender. Null without one. */
  partsPerSecond: number | null
  createdAt: Date
  counteragentName: string
  counteragentInn: string
}

export type NewSender = Pick<
  Sender,
  'senderName' | 'channelType' | 'commonType' | 'brand' | 'countryCode' | 'validFrom'
> & {
  description: string | undefined
  documentIds: string[]
}

/** A sender name with the description and the documents for its review. */
export type SenderRequest = Sender & { description: string | null; documentIds: string[] }

export type SenderChange = Partial<Pick<Sender, 'senderName' | 'commonType' | 'validFrom'>> & {
  validTo?: Date
  description?: string
  documentIds?: string[]
}

export const changeableFields = new ChangeableFields<keyof SenderChange>('sender', [
  ['senderName', beforeDecision],
  ['commonType', beforeDecision],
  ['validFrom', beforeApproval],
  ['validTo', untilTheEnd],
  ['description', beforeDecision],
  ['documentIds', untilTheEnd],
])

/** A name that consists of spaces would be invisible. */
const SMS_NAME = /^(?! +$)[A-Za-z0-9 !"#$%&'()*+,\-./:;<=>?@_]{1,11}$/

export function refuseBadName(name: string, channelType: ClientChannel, brand: Brand) {
  const length = [...name].length
  if (channelType === 'SMS' && !SMS_NAME.test(name)) {
    throw invalidField(
      'senderName',
      'must be 1 to 11 Latin letters, digits, spaces or !"#$%&\'()*+,-./:;<=>?@_ for SMS, not spaces alone',
    )
  }
  if (length < 1 || length > 64) throw invalidField('senderName', 'must be 1 to 64 characters')
  if (brand === 'MEGAFON' && /[+ ]/.test(name))
    throw invalidField('senderName', 'must not contain + or a space for MEGAFON')
}

/** Letters and digits of any script, and the punctuation of names of shops and services. */
const VIBER_WORD = `[\\p{L}\\p{M}\\p{Nd}.,:;!?&'"«»()+\\-–—_/@#№%*]+`
const VIBER_NAME = new RegExp(`^(?=.*[\\p{L}\\p{Nd}])${VIBER_WORD}(?: ${VIBER_WORD})*$`, 'u')
const MOST_VIBER_CHARACTERS = 28

/** Checks the name of a VIBER service. Only clients' names are checked: a partner is responsible for the names it registers. */
export function refuseBadViberName(name: string) {
  if (VIBER_NAME.test(name) && [...name].length <= MOST_VIBER_CHARACTERS) return
  throw invalidField(
    'senderName',
    `must be 1 to ${MOST_VIBER_CHARACTERS} letters, digits, .,:;!?&'"«»()+-–—_/@#№%* or single spaces between them for VIBER, not signs alone`,
  )
}

export function refuseBadDates(dates: { validFrom: Date; validTo: Date | null | undefined }, now: Date) {
  if (!dates.validTo) return
  if (dates.validTo < dates.validFrom) throw invalidField('validTo', 'must not be before validFrom')
  if (dates.validTo < now) throw invalidField('validTo', 'must not be in the past')
}

export const isInternational = (sender: Pick<Sender, 'commonType'>) => sender.commonType.startsWith('INTERNATIONAL_')

/** Names of these types cost a monthly fee if the operator of the brand asks for one. */
export const isPaidType = (commonType: CommonType) => commonType === 'PROMO' || commonType === 'MULTISIGNATURE'

export const senderTypes = ['COMMON', 'START', 'PRO'] as const
export type SenderType = (typeof senderTypes)[number]

/** The group of tariffs that apply to a name. */
export function senderTypeOf(sender: Pick<Sender, 'commonType' | 'fee'>): SenderType {
  if (sender.commonType === 'COMMON') return 'COMMON'
  return sender.fee === null ? 'START' : 'PRO'
}
