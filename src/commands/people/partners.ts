import type { Pool } from '../../db/sql.ts'
import type { ListedPartner } from '../../domain/partners/partner.ts'
import {
  changePassword,
  createPartner,
  disablePartner,
  enablePartner,
  listPartners,
  unlockPartner,
} from '../../domain/partners/partners.ts'
import { noPartner, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { table } from '../table.ts'
import { newLoginIn, newPasswordIn } from './credentials.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const partners = await listPartners(sql)
    print(partners.map(present), tableOf(partners))
  })
}

export async function createOne(call: Call) {
  const login = newLoginIn(call)
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    const { partnerId } = await createPartner(sql, login, password)
    call.print({ partnerId, login }, `Partner ${partnerId} with the login ${login} was made.`)
  })
}

export async function setPassword(call: Call) {
  const login = call.options.login!
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noPartner(login), changePassword(sql, login, password))
    call.print({ login }, `The password of ${login} was changed; its old tokens no longer work.`)
  })
}

export const disableOne = (call: Call) =>
  onLogin(call, disablePartner, login => ({
    value: { login, disabled: true },
    text: `Partner ${login} is disabled: it cannot log in, and its tokens no longer work. Its companies go on.`,
  }))

export const enableOne = (call: Call) =>
  onLogin(call, enablePartner, login => ({
    value: { login, disabled: false },
    text: `Partner ${login} is enabled and can log in.`,
  }))

export const unlockOne = (call: Call) =>
  onLogin(call, unlockPartner, login => ({ value: { login }, text: `The failed logins of ${login} are forgotten.` }))

async function onLogin(
  call: Call,
  change: (sql: Pool, login: string) => Promise<void>,
  outcome: (login: string) => { value: unknown; text: string },
) {
  const [login] = call.arguments as [string]
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noPartner(login), change(sql, login))
    const { value, text } = outcome(login)
    call.print(value, text)
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
