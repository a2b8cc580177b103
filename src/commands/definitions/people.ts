import type { Command, Option } from '../command.ts'

const partners = () => import('../people/partners.ts')
const staff = () => import('../people/staff.ts')

const login = { value: 'LOGIN', about: 'A plain name or an e-mail address', required: true }
const knownLogin = { ...login, about: 'The login' }
const LOGIN = { name: 'LOGIN', about: 'The login of the partner: `tidings partner list` shows them' }

const password: Record<string, Option> = {
  'password-file': {
    value: 'FILE',
    about: 'Where the password is read from, - for standard input; without it you are asked on the terminal',
  },
  password: {
    value: 'PASSWORD',
    about: 'Removed',
    removed:
      'would show the password to everyone on this machine: leave it out to be asked, or give --password-file FILE.',
  },
}

export const partnerCommands: Command[] = [
  {
    name: 'partner list',
    about: 'Lists the partners.',
    run: async call => (await partners()).listAll(call),
  },
  {
    name: 'partner create',
    about: 'Makes a partner who can log in to the partner API; the password has at least 10 characters.',
    options: { login, ...password },
    run: async call => (await partners()).createOne(call),
  },
  {
    name: 'partner password',
    about: 'Changes the password of a partner; every token issued before stops at once.',
    options: { login: knownLogin, ...password },
    run: async call => (await partners()).setPassword(call),
  },
  {
    name: 'partner disable',
    about: 'Keeps a partner from logging in and ends its tokens at once; its companies go on.',
    arguments: [LOGIN],
    run: async call => (await partners()).disableOne(call),
  },
  {
    name: 'partner enable',
    about: 'Lets a disabled partner log in again.',
    arguments: [LOGIN],
    run: async call => (await partners()).enableOne(call),
  },
  {
    name: 'partner unlock',
    about: 'Forgets the failed logins of a partner, so that it need not wait.',
    arguments: [LOGIN],
    run: async call => (await partners()).unlockOne(call),
  },
]

export const staffCommands: Command[] = [
  {
    name: 'staff list',
    about: 'Lists the members of staff.',
    run: async call => (await staff()).listAll(call),
  },
  {
    name: 'staff create',
    about: 'Makes a member of staff, who reviews sender names and looks after companies.',
    options: { login, ...password },
    run: async call => (await staff()).createOne(call),
  },
  {
    name: 'staff password',
    about: 'Changes the password of a member of staff.',
    options: { login: knownLogin, ...password },
    run: async call => (await staff()).setPassword(call),
  },
]
