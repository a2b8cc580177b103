import type { Command, Option } from '../command.ts'

const partners = () => import('../people/partners.ts')
const staff = () => import('../people/staff.ts')
const persons = () => import('../people/persons.ts')

const login = { value: 'LOGIN', about: 'A plain name or an e-mail address', required: true }
const knownLogin = { ...login, about: 'The login' }
const LOGIN = { name: 'LOGIN', about: 'The login of the partner: `tidings partner list` shows them' }

const password: Record<string, Option> = {
  'password-file': {
    value: 'FILE',
    about: 'The file with the password, - for standard input; by default the terminal asks for it',
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
    about: 'Creates a partner with a login for the partner API; the password has at least 10 characters.',
    options: { login, ...password },
    run: async call => (await partners()).createOne(call),
  },
  {
    name: 'partner password',
    about: 'Changes the password of a partner; all its tokens become invalid at once.',
    options: { login: knownLogin, ...password },
    run: async call => (await partners()).setPassword(call),
  },
  {
    name: 'partner disable',
    about: 'Disables the login of a partner and ends its tokens at once; its companies continue to work.',
    arguments: [LOGIN],
    run: async call => (await partners()).disableOne(call),
  },
  {
    name: 'partner enable',
    about: 'Enables the login of a disabled partner.',
    arguments: [LOGIN],
    run: async call => (await partners()).enableOne(call),
  },
  {
    name: 'partner unlock',
    about: 'Deletes the failed logins of a partner, so that it can log in at once.',
    arguments: [LOGIN],
    run: async call => (await partners()).unlockOne(call),
  },
]

const place: Record<string, Option> = {
  company: { value: 'N', about: 'A person of this company' },
  partner: { value: 'LOGIN', about: 'A person of the partner with this login' },
  staff: { about: 'A member of staff' },
}
const noMail: Option = {
  about: 'Prints the link alone; without this switch the link is also mailed if TIDINGS_SMTP_URL is set',
}
const PERSON = { name: 'LOGIN', about: 'The login of the person: `tidings person list` shows them' }

export const personCommands: Command[] = [
  {
    name: 'person invite',
    about:
      'Invites a person to the cabinet: prints a link that works once, for a week, and mails it if TIDINGS_SMTP_URL is set.',
    options: {
      ...place,
      login,
      role: {
        value: 'ROLE',
        about:
          'Of a company owner, sender, finance or viewer; of a partner owner, manager or viewer; of the staff admin, moderator or support',
        required: true,
      },
      name: { value: 'NAME', about: 'The name that others see' },
      'no-mail': noMail,
    },
    run: async call => (await persons()).inviteOne(call),
  },
  {
    name: 'person list',
    about: 'Lists the people of a company, of a partner, or the staff.',
    options: place,
    run: async call => (await persons()).listSome(call),
  },
  {
    name: 'person link',
    about:
      'Prints a new link for a person who lost the link or the password, and mails it if TIDINGS_SMTP_URL is set; the earlier link becomes invalid.',
    arguments: [PERSON],
    options: { 'no-mail': noMail },
    run: async call => (await persons()).renewLink(call),
  },
  {
    name: 'person role',
    about: 'Changes the role of a person.',
    arguments: [PERSON],
    options: { role: { value: 'ROLE', about: 'The new role', required: true } },
    run: async call => (await persons()).setRole(call),
  },
  {
    name: 'person deactivate',
    about: 'Ends all sessions of a person at once and disables the sign-in.',
    arguments: [PERSON],
    run: async call => (await persons()).deactivateOne(call),
  },
  {
    name: 'person activate',
    about: 'Enables the sign-in of a deactivated person.',
    arguments: [PERSON],
    run: async call => (await persons()).activateOne(call),
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
    about: 'Creates a member of staff with a login for the cabinet.',
    options: {
      login,
      role: {
        value: 'ROLE',
        about: 'The rights of the member: admin (everything), moderator (review), support (read)',
        default: 'admin',
      },
      ...password,
    },
    run: async call => (await staff()).createOne(call),
  },
  {
    name: 'staff password',
    about: 'Changes the password of a member of staff; every session ends at once.',
    options: { login: knownLogin, ...password },
    run: async call => (await staff()).setPassword(call),
  },
]
