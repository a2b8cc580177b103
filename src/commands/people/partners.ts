import type { ListedPartner } from '../../domain/partners/partner.ts'
import { changePassword, createPartner, listPartners } from '../../domain/partners/partners.ts'
import { noPartner, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { table } from '../table.ts'
import { credentialsIn } from './credentials.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const partners = await listPartners(sql)
    print(partners.map(present), tableOf(partners))
  })
}

export async function createOne({ config, options, print }: Call) {
  const { login, password } = credentialsIn(options)
  await withDatabase(config, async ({ sql }) => {
    const { partnerId } = await createPartner(sql, login, password)
    print({ partnerId, login }, `Partner ${partnerId} with the login ${login} was made.`)
  })
}

export async function setPassword({ config, options, print }: Call) {
  const { login, password } = credentialsIn(options)
  await withDatabase(config, async ({ sql }) => {
    await orAdvise(noPartner(login), changePassword(sql, login, password))
    print({ login }, `The password of ${login} was changed; its old tokens no longer work.`)
  })
}

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
