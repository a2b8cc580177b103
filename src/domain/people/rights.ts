import type { Person, PersonKind, Role } from './person.ts'

/** The rights of people in the cabinet. Every route of the cabinet states its right. */
export const rights = [
  'traffic.see', // overview, dispatches, messages, short links
  'traffic.send', // dispatches, single messages
  'settings.see', // sender names, templates, documents, inbound rules, blacklist, verifiers
  'settings.change',
  'developers.see', // keys, callbacks, request log
  'developers.change',
  'money.see', // budget, ledger, statements
  'money.change', // top-ups, budgets
  'companies.see',
  'companies.change',
  'people.see',
  'people.change',
  'audit.see',
  'review', // sender names and templates that wait for staff
  'gateways.see',
  'gateways.change',
  'tariffs.see',
  'tariffs.change',
  'numbering.see',
  'numbering.change',
  'partners.see',
  'partners.change',
  'health.see',
] as const

export type Right = (typeof rights)[number]

const ofCompany = {
  viewer: ['traffic.see', 'settings.see'],
  sender: ['traffic.see', 'settings.see', 'traffic.send'],
  finance: ['traffic.see', 'money.see'],
  owner: [
    'traffic.see',
    'traffic.send',
    'settings.see',
    'settings.change',
    'developers.see',
    'developers.change',
    'money.see',
    'people.see',
    'people.change',
    'audit.see',
  ],
} as const satisfies Record<typeof import('./person.ts').roles['COMPANY'][number], readonly Right[]>

const rightsOfRoles: { [Kind in PersonKind]: Partial<Record<Role, readonly Right[]>> } = {
  COMPANY: ofCompany,
  PARTNER: {
    viewer: ['traffic.see', 'settings.see', 'money.see', 'companies.see'],
    manager: [
      'traffic.see',
      'traffic.send',
      'settings.see',
      'settings.change',
      'developers.see',
      'money.see',
      'companies.see',
      'companies.change',
    ],
    owner: [...ofCompany.owner, 'money.change', 'companies.see', 'companies.change'],
  },
  STAFF: {
    moderator: ['traffic.see', 'settings.see', 'companies.see', 'review'],
    support: [
      'traffic.see',
      'settings.see',
      'developers.see',
      'money.see',
      'companies.see',
      'people.see',
      'audit.see',
      'gateways.see',
      'tariffs.see',
      'numbering.see',
      'partners.see',
      'health.see',
    ],
    admin: rights,
  },
}

export const rightsOf = ({ kind, role }: Pick<Person, 'kind' | 'role'>): readonly Right[] =>
  rightsOfRoles[kind][role] ?? []

export const may = (person: Pick<Person, 'kind' | 'role'>, right: Right): boolean => rightsOf(person).includes(right)

/** People who may see money or send messages also see the prices of messages. */
export const maySeePrices = (person: Pick<Person, 'kind' | 'role'>): boolean =>
  may(person, 'money.see') || may(person, 'traffic.send')
