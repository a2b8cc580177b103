import type { Command } from '../command.ts'

const erasure = () => import('../audit/erase.ts')
const audit = () => import('../audit/audit-log.ts')

export const auditCommands: Command[] = [
  {
    name: 'audit list',
    about: 'Lists the changes by the cabinet and the command line, the newest first.',
    options: {
      company: { value: 'N', about: 'Only of one company' },
      person: { value: 'LOGIN', about: 'Only of one person, or of one system user at the command line' },
      what: { value: 'WHAT', about: 'Only changes of one kind, such as person.role_changed' },
      from: { value: 'TIME', about: 'Only from this time on: a day in UTC, or a time such as 2026-05-17T09:00:00Z' },
      to: { value: 'TIME', about: 'Only before this time' },
      limit: { value: 'N', about: 'How many to list', default: '50' },
    },
    run: async call => (await audit()).listSome(call),
  },
  {
    name: 'audit drop',
    about: 'Deletes the entries of whole months for ever. The last twelve months always stay.',
    options: { before: { value: 'DAY', about: 'Deletes the months that ended before this day', required: true } },
    run: async call => (await audit()).dropOld(call),
  },
  {
    name: 'erase',
    about:
      'Removes a phone number from the whole database. Without --yes it only counts the rows that have the number.',
    arguments: [{ name: 'NUMBER', about: 'The phone number, e.g. 79160000001' }],
    options: { yes: { about: 'Erase: this cannot be undone' } },
    run: async call => (await erasure()).eraseOne(call),
  },
]
