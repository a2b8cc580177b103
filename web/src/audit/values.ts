import { type SenderStatus, senderStatuses } from '../../../src/domain/senders/sender.ts'
import { useWords } from '../words/words.ts'
import type { Entry } from './audit.ts'

const HIDDEN = '***'

/** The names of the fields before and after the change, in the order in which they were written. */
export const fieldNames = ({ before, after }: Pick<Entry, 'before' | 'after'>): string[] => [
  ...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]),
]

/** Fields with a translated name. Other fields are shown under their name in the API. */
const known = [
  'login',
  'name',
  'role',
  'language',
  'theme',
  'ended',
  'status',
  'comment',
  'addresses',
  'active',
  'type',
  'trafficCenter',
  'rate',
  'balance',
  'budget',
  'billing',
  'inbound',
  'note',
  'channel',
  'channels',
  'connector',
  'brands',
  'companies',
  'paused',
  'settings',
  'messages',
  'entries',
  'months',
  'callbackUrl',
  'pricingModel',
  'prices',
  'fee',
  'from',
  'counteragentType',
  'counteragentInn',
  'counteragentAddress',
  'counteragentKpp',
  'actualAddress',
  'kind',
  'sizeBytes',
  'drainUntil',
  'areas',
  'replace',
  'ranges',
  'to',
  'sender',
  'brand',
  'recipients',
  'destination',
  'channelType',
  'senderName',
  'documents',
  'description',
  'price',
] as const

type KnownField = (typeof known)[number]
const isKnown = (field: string): field is KnownField => (known as readonly string[]).includes(field)

const roles = ['owner', 'sender', 'finance', 'viewer', 'manager', 'admin', 'moderator', 'support'] as const
const isRole = (value: unknown): value is (typeof roles)[number] => (roles as readonly unknown[]).includes(value)

const isReviewState = (value: unknown): value is SenderStatus => (senderStatuses as readonly unknown[]).includes(value)

const statuses = ['ACTIVE', 'DISABLED', 'CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] as const
const isStatus = (value: unknown): value is (typeof statuses)[number] =>
  (statuses as readonly unknown[]).includes(value)

/** Names and values of fields, translated where a translation exists. */
export function useValues() {
  const { say } = useWords()

  const textOf = (value: unknown): string => {
    if (value === undefined || value === null || value === '') return '–'
    if (value === HIDDEN) return say('audit.hidden')
    if (typeof value === 'boolean') return say(value ? 'audit.yes' : 'audit.no')
    if (Array.isArray(value)) return value.length > 0 ? value.map(textOf).join(', ') : '–'
    if (typeof value === 'object')
      return Object.entries(value)
        .map(([name, inside]) => `${name} ${textOf(inside)}`)
        .join(', ')
    return String(value)
  }
  return {
    nameOf: (field: string) => (isKnown(field) ? say(`audit.field.${field}`) : field),
    textOf: (field: string, value: unknown) => {
      if (field === 'role' && isRole(value)) return say(`role.${value}`)
      if (field === 'status' && isReviewState(value)) return say(`review.status.${value}`)
      return field === 'status' && isStatus(value) ? say(`audit.status.${value}`) : textOf(value)
    },
  }
}
