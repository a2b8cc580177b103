import type { ClientChannel, TrafficType } from '../../base/channel-types.ts'
import { invalidField } from '../../base/errors.ts'
import type { Brand } from '../numbering/brand.ts'
import { beforeApproval, beforeDecision, ChangeableFields, untilTheEnd } from '../review/changeable-fields.ts'
import type { ReviewStatus } from '../review/review.ts'

/** A template that is registered with the messenger. It is sent instead of a free text that matches. */
export type MessengerTemplate = { name: string; language: string }

export type Template = {
  templateId: number
  companyId: number
  channelType: ClientChannel
  trafficType: TrafficType
  pattern: string
  /**
   * The sender name of the template. Null: it is for every name of its channel. Brand and country belong to the name.
   */
  senderId: number | null
  senderName: string | null
  brand: Brand | null
  countryCode: string | null
  content: MessengerTemplate | null
  validFrom: Date
  validTo: Date | null
  status: ReviewStatus
  managerComment: string | null
  rejectedAt: Date | null
  createdAt: Date
}

/**
 * A sender name that a client gives instead of an id. Brand and country choose among several registrations of the name.
 */
export type GivenName = { senderName: string; brand?: Brand | undefined; countryCode?: string | undefined }

export type NewTemplate = Pick<
  Template,
  'channelType' | 'trafficType' | 'pattern' | 'senderId' | 'content' | 'validFrom' | 'validTo'
>

export type TemplateChange = Partial<
  Pick<Template, 'trafficType' | 'pattern' | 'senderId' | 'content' | 'validFrom' | 'validTo'>
>

export const changeableFields = new ChangeableFields<keyof TemplateChange>('template', [
  ['trafficType', beforeDecision],
  ['pattern', beforeDecision],
  ['senderId', beforeDecision],
  ['content', beforeDecision],
  ['validFrom', beforeApproval],
  ['validTo', untilTheEnd],
])

const MESSENGER_NAME = /^[a-z0-9_]{1,512}$/
const LANGUAGE = /^[a-z]{2,3}(_[A-Z]{2,4})?$/

export function refuseBadContent(content: MessengerTemplate | null, channelType: ClientChannel) {
  if (!content) return
  if (channelType !== 'WHATSAPP') throw invalidField('content', 'only templates of WHATSAPP have it')
  if (!MESSENGER_NAME.test(content.name)) {
    throw invalidField('content.name', 'must be 1 to 512 small Latin letters, digits or _')
  }
  if (!LANGUAGE.test(content.language)) throw invalidField('content.language', 'must be a code such as ru or en_US')
}
