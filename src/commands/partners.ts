import { changePassword, createPartner } from '../domain/partners/partners.ts'
import { type Command, withDatabase } from './command.ts'

const credentials = {
  login: { value: 'LOGIN', about: 'The login of the partner', required: true },
  password: { value: 'PASSWORD', about: 'Its password', required: true },
}

export const partnerCommands: Command[] = [
  {
    name: 'partner create',
    about: 'Makes a partner who can log in to the partner API.',
    options: credentials,
    run: ({ config, options, print }) =>
      withDatabase(config, async ({ sql }) => {
        const { partnerId } = await createPartner(sql, options.login!, options.password!)
        print({ partnerId, login: options.login }, `Partner ${partnerId} with the login ${options.login} was made.`)
      }),
  },
  {
    name: 'partner password',
    about: 'Changes the password of a partner; every token issued before stops at once.',
    options: credentials,
    run: ({ config, options, print }) =>
      withDatabase(config, async ({ sql }) => {
        await changePassword(sql, options.login!, options.password!)
        print({ login: options.login }, `The password of ${options.login} was changed; its old tokens no longer work.`)
      }),
  },
]
