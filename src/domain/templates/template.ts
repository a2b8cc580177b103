import type { ClientChannel, TrafficType } from '../../base/channel-types.ts'
import { invalidField } from '../../base/errors.ts'
import type { Brand } from '../numbering/brand.ts'
import { type ReviewStatus, reviewStates, reviewStatuses } from '../senders/sender.ts'

/** A template is reviewed as a sender name is, in the same states. */
export const templateStatuses = reviewStatuses
export type TemplateStatus = ReviewStatus

/** A template registered with the messenger itself, which goes out in place of a free text that matches. */
export type MessengerTemplate = { name: string; language: string }

export type Template = {
  templateId: number
  companyId: number
  channelType: ClientChannel
  trafficType: TrafficType
  pattern: string
  /** The sender name it is bound to; null serves every name of its channel. Brand and country are the name's. */
  senderId: number | null
  senderName: string | null
  brand: Brand | null
  countryCode: string | null
  content: MessengerTemplate | null
  validFrom: Date
  validTo: Date | null
  status: TemplateStatus
  managerComment: string | null
  rejectedAt: Date | null
  createdAt: Date
}

/** A sender name as a client writes it, instead of its id. Brand and country choose among several registrations of it. */
export type GivenName = { senderName: string; brand?: Brand | undefined; countryCode?: string | undefined }

export type NewTemplate = Pick<
  Template,
  'channelType' | 'trafficType' | 'pattern' | 'senderId' | 'content' | 'validFrom' | 'validTo'
>

export type TemplateChange = Partial<
  Pick<Template, 'trafficType' | 'pattern' | 'senderId' | 'content' | 'validFrom' | 'validTo'>
>

const early: readonly TemplateStatus[] = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED']

/** In which states a field may still be changed: what was reviewed stays as it was reviewed. */
const changeableIn: Record<keyof TemplateChange, readonly TemplateStatus[]> = {
  trafficType: early,
  pattern: early,
  senderId: early,
  content: early,
  validFrom: [...reviewStates, 'REJECTED'],
  validTo: [...reviewStates, 'REJECTED', 'APPROVED'],
}

export const changeableFields = ({ status }: Pick<Template, 'status'>) =>
  (Object.keys(changeableIn) as (keyof TemplateChange)[]).filter(field => changeableIn[field].includes(status))

export function refuseForbiddenChange(template: Pick<Template, 'status'>, change: TemplateChange) {
  for (const field of Object.keys(changeableIn) as (keyof TemplateChange)[]) {
    if (change[field] !== undefined && !changeableIn[field].includes(template.status)) {
      throw invalidField(field, `cannot be changed while the template is ${template.status}`)
    }
  }
}

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
