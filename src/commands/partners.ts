import type { ListedPartner } from '../domain/partners/partner.ts'
import { changePassword, createPartner, listPartners } from '../domain/partners/partners.ts'
import { noPartner, orAdvise } from './advice.ts'
import { type Command, withDatabase } from './command.ts'
import { credentialsIn } from './credentials.ts'
import { table } from './table.ts'

const credentials = {
  login: { value: 'LOGIN', about: 'The login of the partner', required: true },
  password: { value: 'PASSWORD', about: 'Its password', required: true },
}

export const partnerCommands: Command[] = [
  {
    name: 'partner list',
    about: 'Lists the partners.',
    run: ({ config, print }) =>
      withDatabase(config, async ({ sql }) => {
        const partners = await listPartners(sql)
        print(partners.map(present), tableOf(partners))
      }),
  },
  {
    name: 'partner create',
    about: 'Makes a partner who can log in to the partner API.',
    options: credentials,
    async run({ config, options, print }) {
      const { login, password } = credentialsIn(options)
      await withDatabase(config, async ({ sql }) => {
        const { partnerId } = await createPartner(sql, login, password)
        print({ partnerId, login }, `Partner ${partnerId} with the login ${login} was made.`)
      })
    },
  },
  {
    name: 'partner password',
    about: 'Changes the password of a partner; every token issued before stops at once.',
    options: credentials,
    async run({ config, options, print }) {
      const { login, password } = credentialsIn(options)
      await withDatabase(config, async ({ sql }) => {
        await orAdvise(noPartner(login), changePassword(sql, login, password))
        print({ login }, `The password of ${login} was changed; its old tokens no longer work.`)
      })
    },
  },
]

const present = ({ partnerId, login, currency, disabledAt }: ListedPartner) => ({
  partnerId,
  login,
  currency,
  disabled: disabledAt !== null,
})

const tableOf = (partners: ListedPartner[]) =>
  table(
    ['ID', 'CURRENCY', 'STATE', 'LOGIN'],
    partners.map(p => [p.partnerId, p.currency, p.disabledAt ? 'disabled' : 'active', p.login]),
  )
