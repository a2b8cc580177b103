import type { Command } from '../command.ts'

const partners = () => import('../people/partners.ts')

const credentials = {
  login: { value: 'LOGIN', about: 'The login of the partner', required: true },
  password: { value: 'PASSWORD', about: 'Its password', required: true },
}

export const partnerCommands: Command[] = [
  {
    name: 'partner list',
    about: 'Lists the partners.',
    run: async call => (await partners()).listAll(call),
  },
  {
    name: 'partner create',
    about: 'Makes a partner who can log in to the partner API.',
    options: credentials,
    run: async call => (await partners()).createOne(call),
  },
  {
    name: 'partner password',
    about: 'Changes the password of a partner; every token issued before stops at once.',
    options: credentials,
    run: async call => (await partners()).setPassword(call),
  },
]
