import { createStaff } from '../domain/partners/partners.ts'
import { type Command, withDatabase } from './command.ts'

export const staffCommands: Command[] = [
  {
    name: 'staff create',
    about: 'Makes a member of staff, who reviews sender names and looks after companies.',
    options: {
      login: { value: 'LOGIN', about: 'The login', required: true },
      password: { value: 'PASSWORD', about: 'The password', required: true },
    },
    run: ({ config, options, print }) =>
      withDatabase(config, async ({ sql }) => {
        const { staffId } = await createStaff(sql, options.login!, options.password!)
        print({ staffId, login: options.login }, `Staff member ${staffId} with the login ${options.login} was made.`)
      }),
  },
]
