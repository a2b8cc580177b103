import { allowLongWork } from '../../db/patience.ts'
import type { Pool } from '../../db/sql.ts'
import type { AuditAction } from '../../domain/audit-log/entry.ts'
import type { ListedPartner } from '../../domain/partners/partner.ts'
import {
  createPartner,
  disablePartner,
  enablePartner,
  listPartners,
  partnerWithLogin,
  unlockPartner,
} from '../../domain/partners/partners.ts'
import { replacePartnerPassword } from '../../domain/people/partner-owners.ts'
import { createOwner } from '../../domain/people/sign-in.ts'
import { noPartner, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf, textOption } from '../command-line.ts'
import { recorded } from '../recorded.ts'
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
    const { partnerId } = await recorded(sql, async (tx, record) => {
      await allowLongWork(tx) // the hash of a password takes seconds on a busy machine
      const created = await createPartner(tx, login, password)
      await createOwner(tx, login)
      await record({ what: 'partner.created', ...(await subjectOf(tx, login)), after: { login } })
      return created
    })
    call.print({ partnerId, login }, `Partner ${partnerId} with the login ${login} was made.`)
  })
}

export async function setPassword(call: Call) {
  const login = textOption(call, 'login')
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    await recorded(sql, async (tx, record) => {
      await allowLongWork(tx) // the hash of a password takes seconds on a busy machine
      await orAdvise(noPartner(login), replacePartnerPassword(tx, login, password))
      await record({ what: 'partner.password_changed', ...(await subjectOf(tx, login)) })
    })
    call.print({ login }, `The password of ${login} was changed; its old tokens and sessions no longer work.`)
  })
}

export const disableOne = (call: Call) =>
  onLogin(call, 'partner.disabled', disablePartner, login => ({
    value: { login, disabled: true },
    text: `Partner ${login} is disabled: it cannot log in, and its tokens no longer work. Its companies go on.`,
  }))

export const enableOne = (call: Call) =>
  onLogin(call, 'partner.enabled', enablePartner, login => ({
    value: { login, disabled: false },
    text: `Partner ${login} is enabled and can log in.`,
  }))

export const unlockOne = (call: Call) =>
  onLogin(call, 'partner.unlocked', unlockPartner, login => ({
    value: { login },
    text: `The failed logins of ${login} are forgotten.`,
  }))

async function onLogin(
  call: Call,
  what: AuditAction,
  change: (sql: Pool, login: string) => Promise<void>,
  outcome: (login: string) => { value: unknown; text: string },
) {
  const login = argumentOf(call)
  await withDatabase(call.config, async ({ sql }) => {
    await recorded(sql, async (tx, record) => {
      await orAdvise(noPartner(login), change(tx, login))
      await record({ what, ...(await subjectOf(tx, login)) })
    })
    const { value, text } = outcome(login)
    call.print(value, text)
  })
}

async function subjectOf(sql: Pool, login: string) {
  const { partnerId } = (await partnerWithLogin(sql, login))!
  return { subject: { kind: 'partner', id: partnerId, name: login }, partnerId }
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
