import type { Command } from '../command.ts'

const audit = () => import('../audit/audit-log.ts')

export const auditCommands: Command[] = [
  {
    name: 'audit list',
    about: 'Lists changes made in the cabinet and by the command line, the newest first.',
    options: {
      company: { value: 'N', about: 'Only those of one company' },
      person: { value: 'LOGIN', about: 'Only those of one person, or of a system user at the command line' },
      what: { value: 'WHAT', about: 'Only changes of one kind, such as person.role_changed' },
      from: { value: 'TIME', about: 'Only from this time on, a day in UTC or 2026-05-17T09:00:00Z' },
      to: { value: 'TIME', about: 'Only before this time' },
      limit: { value: 'N', about: 'How many to list', default: '50' },
    },
    run: async call => (await audit()).listSome(call),
  },
  {
    name: 'audit drop',
    about: 'Drops the entries of whole months, for ever. Those of the last twelve months are kept in any case.',
    options: { before: { value: 'DAY', about: 'Drops the months that ended before this day', required: true } },
    run: async call => (await audit()).dropOld(call),
  },
]
