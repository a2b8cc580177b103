import { UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { partnerWithLogin } from '../../domain/partners/partners.ts'
import {
  activatePerson,
  changeRole,
  deactivatePerson,
  invitePerson,
  listPeople,
  personWithLogin,
  renewInvitation,
} from '../../domain/people/people.ts'
import type { Person, Place } from '../../domain/people/person.ts'
import { noCompany, noPartner, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf, textOption } from '../command-line.ts'
import { type Addressee, mailFailureWords, mailLink } from '../mail/link-mail.ts'
import { optionalId } from '../options.ts'
import { type Record, recorded } from '../recorded.ts'
import { urlOf } from '../service/http-listeners.ts'
import { table } from '../table.ts'
import { newLoginIn } from './credentials.ts'

export async function inviteOne(call: Call) {
  const login = newLoginIn(call)
  const { role, name } = call.options
  await withDatabase(call.config, async ({ sql }) => {
    const place = await placeIn(call, sql)
    const now = await databaseNow(sql)
    const given = { login, role: role!, ...(name === undefined ? {} : { name }) }
    const invited = await recorded(sql, async (tx, record) => {
      const made = await tx.begin(inner => invitePerson(inner, place, given, now))
      const subject = { kind: 'person', id: made.personId, name: login }
      await record({ what: 'person.invited', ...place, subject, after: given })
      return made
    })
    const { link, mail, text } = await passOn(call, sql, { ...place, login, isInvited: true }, invited)
    call.print({ personId: invited.personId, login, role, link, expiresAt: invited.expiresAt, mail }, text)
  })
}

type Link = { token: string; expiresAt: Date }

/** Mails the link after its change is committed, where there is a mail server. The link is printed in any case. */
async function passOn(call: Call, sql: Sql, person: Addressee, { token, expiresAt }: Link) {
  const { config } = call
  const { login } = person
  const link = `${config.publicUrl ?? urlOf(config.host, config.port)}/cabinet/accept-invitation#${token}`
  const until = expiresAt.toISOString().slice(0, 10)
  const byHand = `Give this link to ${login}. It works once, until ${until}:\n${link}`
  const mailed = await mailLink(call, sql, person, { link, expiresAt })
  if (!mailed) return { link, mail: null, text: byHand }
  const { failure, detail = login } = mailed
  const mail = { to: login, failure }
  if (failure === null)
    return { link, mail, text: `This link was mailed to ${login}. It works once, until ${until}:\n${link}` }
  const what = failure === 'unknown' ? 'It is not known whether the link was mailed' : 'The link was not mailed'
  return { link, mail, text: `${what}: ${mailFailureWords[failure]} (${detail}).\n${byHand}` }
}

export async function listSome(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const people = await listPeople(sql, await placeIn(call, sql))
    const none = 'There are no people yet: `tidings person invite` invites a person.'
    call.print(people.map(present), people.length > 0 ? tableOf(people) : none)
  })
}

/** Exactly one of --company, --partner and --staff. */
async function placeIn(call: Call, sql: Sql): Promise<Place> {
  const companyId = optionalId(call, 'company')
  const { partner: login } = call.options
  const given = [companyId !== undefined, login !== undefined, call.switches.staff === true].filter(Boolean).length
  if (given !== 1) throw new UsageError('Give exactly one of --company N, --partner LOGIN or --staff.')
  if (companyId !== undefined) {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    return { kind: 'COMPANY', companyId, partnerId: null }
  }
  if (login === undefined) return { kind: 'STAFF', companyId: null, partnerId: null }
  const partner = await partnerWithLogin(sql, login)
  if (!partner) throw new UsageError(noPartner(login))
  return { kind: 'PARTNER', companyId: null, partnerId: partner.partnerId }
}

export async function renewLink(call: Call) {
  await withPerson(call, async (sql, person) => {
    const renewed = await recorded(sql, async (tx, record) => {
      await record({ what: 'person.link_renewed', ...subjectOf(person) })
      return renewInvitation(tx, person.personId, await databaseNow(tx))
    })
    const { link, mail, text } = await passOn(call, sql, person, renewed)
    call.print({ login: person.login, link, mail }, text)
  })
}

export const setRole = (call: Call) =>
  onPerson(call, async (sql, person, record) => {
    const role = textOption(call, 'role')
    await sql.begin(tx => changeRole(tx, person, role))
    const roles = { before: { role: person.role }, after: { role } }
    await record({ what: 'person.role_changed', ...subjectOf(person), ...roles })
    return { value: { login: person.login, role }, text: `${person.login} has the role ${role} now.` }
  })

export const deactivateOne = (call: Call) =>
  onPerson(call, async (sql, person, record) => {
    await sql.begin(tx => deactivatePerson(tx, person))
    await record({ what: 'person.deactivated', ...subjectOf(person) })
    return { value: { login: person.login, active: false }, text: `${person.login} is signed out and cannot sign in.` }
  })

export const activateOne = (call: Call) =>
  onPerson(call, async (sql, person, record) => {
    await activatePerson(sql, person)
    await record({ what: 'person.activated', ...subjectOf(person) })
    return { value: { login: person.login, active: true }, text: `${person.login} can sign in again.` }
  })

const subjectOf = ({ personId, login, companyId, partnerId }: Person) => ({
  subject: { kind: 'person', id: personId, name: login },
  companyId,
  partnerId,
})

type Outcome = { value: unknown; text: string }

async function onPerson(call: Call, work: (sql: Pool, person: Person, record: Record) => Promise<Outcome>) {
  await withPerson(call, async (sql, person) => {
    const { value, text } = await recorded(sql, (tx, record) => work(tx, person, record))
    call.print(value, text)
  })
}

async function withPerson(call: Call, work: (sql: Pool, person: Person) => Promise<void>) {
  const login = argumentOf(call)
  await withDatabase(call.config, async ({ sql }) => {
    const person = await personWithLogin(sql, login)
    if (!person) throw new UsageError(`No person has the login "${login}": \`tidings person list\` shows people.`)
    await work(sql, person)
  })
}

const present = (person: Person) => ({
  personId: person.personId,
  login: person.login,
  name: person.name,
  role: person.role,
  state: stateOf(person),
  secondFactor: person.hasSecondFactor,
  createdAt: person.createdAt.toISOString(),
})

const stateOf = ({ disabledAt, isInvited }: Person) => (disabledAt ? 'deactivated' : isInvited ? 'invited' : 'active')

const tableOf = (people: Person[]) =>
  table(
    ['ID', 'LOGIN', 'NAME', 'ROLE', 'STATE', 'SECOND FACTOR'],
    people.map(person => [
      person.personId,
      person.login,
      person.name,
      person.role,
      stateOf(person),
      person.hasSecondFactor ? 'on' : 'off',
    ]),
  )
