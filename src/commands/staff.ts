import { createStaff } from '../domain/partners/partners.ts'
import { type Command, withDatabase } from './command.ts'
import { credentialsIn } from './credentials.ts'

export const staffCommands: Command[] = [
  {
    name: 'staff create',
    about: 'Makes a member of staff, who reviews sender names and looks after companies.',
    options: {
      login: { value: 'LOGIN', about: 'The login', required: true },
      password: { value: 'PASSWORD', about: 'The password', required: true },
    },
    async run({ config, options, print }) {
      const { login, password } = credentialsIn(options)
      await withDatabase(config, async ({ sql }) => {
        const { staffId } = await createStaff(sql, login, password)
        print({ staffId, login }, `Staff member ${staffId} with the login ${login} was made.`)
      })
    },
  },
]
