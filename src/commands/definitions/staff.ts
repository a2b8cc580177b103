import type { Command } from '../command.ts'

export const staffCommands: Command[] = [
  {
    name: 'staff create',
    about: 'Makes a member of staff, who reviews sender names and looks after companies.',
    options: {
      login: { value: 'LOGIN', about: 'The login', required: true },
      password: { value: 'PASSWORD', about: 'The password', required: true },
    },
    run: async call => (await import('../people/staff.ts')).createOne(call),
  },
]
