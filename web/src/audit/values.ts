import { reviewStatuses } from '../../../src/domain/review/review.ts'
import { oneOf } from '../search-values.ts'
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
  'text',
  'cascade',
  'dispatchId',
] as const

const roles = ['owner', 'sender', 'finance', 'viewer', 'manager', 'admin', 'moderator', 'support'] as const
const statuses = ['ACTIVE', 'DISABLED', 'CREATED', 'STARTED', 'STOPPED', 'COMPLETED'] as const

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
    return String(value).replace(/^(-?\d+\.\d\d)00$/, '$1') // amounts are stored with four places
  }
  const roleOf = (value: unknown) => {
    const role = oneOf(roles, value)
    return role && say(`role.${role}`)
  }
  const statusOf = (value: unknown) => {
    const [review, status] = [oneOf(reviewStatuses, value), oneOf(statuses, value)]
    return review ? say(`review.status.${review}`) : status && say(`audit.status.${status}`)
  }
  return {
    nameOf: (field: string) => {
      const name = oneOf(known, field)
      return name ? say(`audit.field.${name}`) : field
    },
    textOf: (field: string, value: unknown) =>
      (field === 'role' && roleOf(value)) || (field === 'status' && statusOf(value)) || textOf(value),
  }
}
