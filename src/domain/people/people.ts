import { createHash, randomBytes } from 'node:crypto'
import { AppError, changedMeanwhile, invalid, invalidField, notFound } from '../../base/errors.ts'
import type { Pool, Sql, Transaction } from '../../db/sql.ts'
import { requireAnyCompany } from '../companies/companies.ts'
import { refusalOfLogin, refusalOfPassword } from '../partners/partner.ts'
import { partnerWithLogin, requirePartner, usePasswordHash } from '../partners/partners.ts'
import { hashPassword } from '../partners/password.ts'
import { isRoleOf, type Person, type Place, type Role, roles, type Viewer } from './person.ts'
import { checkOwnPassword } from './sign-in.ts'
import * as store from './store.ts'

export { listPeople } from './store.ts'

export const INVITATION_LIVES_MS = 7 * 24 * 3600_000
const MOST_NAME = 100
/** Of a company, of a partner or of the staff: the page lists them all. */
const MOST_PEOPLE = 1000

export type Invited = { personId: number; token: string; expiresAt: Date }

/** Makes a person without a password, and a link that lets the person choose one, once. */
export async function invitePerson(
  sql: Transaction,
  place: Place,
  given: { login: string; role: string; name?: string },
  now: Date,
): Promise<Invited> {
  const { login, name = '' } = given
  const role = checkedRole(place, given.role)
  refuseBadLogin(login)
  if (name.length > MOST_NAME) throw invalidField('name', `must have at most ${MOST_NAME} characters`)
  await refuseTaken(sql, login)
  await refuseTooMany(sql, place)
  const [made] = await store.insertPerson(sql, { ...place, role, login, name, passwordHash: null })
  if (!made) throw taken(login)
  return { personId: made.personId, ...(await renewInvitation(sql, made.personId, now)) }
}

function checkedRole({ kind }: Place, role: string): Role {
  if (isRoleOf(kind, role)) return role
  throw invalidField('role', `must be one of ${roles[kind].join(', ')}`)
}

function refuseBadLogin(login: string) {
  const refusal = refusalOfLogin(login)
  if (refusal) throw invalidField('login', refusal)
}

/** People and partners sign in with the same kind of login. */
async function refuseTaken(sql: Sql, login: string) {
  if (await partnerWithLogin(sql, login)) throw taken(login)
}

async function refuseTooMany(sql: Sql, place: Place) {
  const [row] = await store.countPeople(sql, place)
  if (row!.count >= MOST_PEOPLE) throw invalid(`There can be at most ${MOST_PEOPLE} people`)
}

const taken = (login: string) => invalidField('login', `"${login}" is taken`)

/** A new link in place of the one before. */
export async function renewInvitation(sql: Sql, personId: number, now: Date) {
  const token = randomBytes(24).toString('base64url')
  const expiresAt = new Date(now.getTime() + INVITATION_LIVES_MS)
  await store.upsertInvitation(sql, personId, hashOf(token), expiresAt)
  return { token, expiresAt }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** The person of an invitation; undefined when it was used or is too old. */
export function invitedPerson(sql: Sql, token: string, now: Date): Promise<Person | undefined> {
  return store.selectInvitation(sql, hashOf(token), now)
}

/**
 * The invited person chooses a password; the link works once. Sessions from before a forgotten password end. `also` runs
 * in the same transaction.
 */
export async function acceptInvitation(
  pool: Pool,
  token: string,
  password: string,
  now: Date,
  also: (sql: Transaction, person: Person) => Promise<unknown> = async () => {},
): Promise<Person> {
  refuseBadPassword(password)
  if (!(await invitedPerson(pool, token, now))) throw noInvitation() // a hash takes much memory: not for strangers
  const passwordHash = await hashPassword(password)
  return pool.begin(async sql => {
    const person = await invitedPerson(sql, token, now)
    const [used] = await store.deleteInvitation(sql, hashOf(token), now)
    if (!person || !used) throw noInvitation()
    await replacePassword(sql, person, passwordHash, null)
    await also(sql, person)
    return person
  })
}

const noInvitation = () => new AppError('not_found', 'The invitation was used before or is too old: ask for a new one')

function refuseBadPassword(password: string) {
  const refusal = refusalOfPassword(password)
  if (refusal) throw invalidField('password', refusal)
}

/**
 * A new password ends every other session; of a partner's owner it ends the tokens of the partner API as well. `also`
 * runs in the same transaction.
 */
export async function changeOwnPassword(
  pool: Pool,
  viewer: Viewer,
  { before, password, address }: { before: string; password: string; address: string },
  now: Date,
  also: (sql: Transaction) => Promise<unknown> = async () => {},
): Promise<void> {
  refuseBadPassword(password)
  await checkOwnPassword(pool, { login: viewer.login, password: before, address }, now)
  const passwordHash = await hashPassword(password)
  await pool.begin(async sql => {
    await replacePassword(sql, viewer, passwordHash, viewer.sessionHash)
    await also(sql)
  })
}

/** The owner of a partner has no password but the partner's: with two, the older one would still open the cabinet. */
async function replacePassword(sql: Transaction, person: Person, passwordHash: string, staying: Buffer | null) {
  const isOwnerOfPartner = person.kind === 'PARTNER' && (await partnerWithLogin(sql, person.login)) !== undefined
  if (isOwnerOfPartner) await usePasswordHash(sql, person.login, passwordHash)
  await store.updatePassword(sql, person.personId, isOwnerOfPartner ? null : passwordHash)
  await store.deleteSessionsOf(sql, person.personId, staying)
  await store.deleteNetworks(sql, person.personId) // the old password may have been used by others
}

export const changePreferences = (sql: Sql, { personId }: Viewer, preferences: store.Preferences) => {
  if ((preferences.name?.length ?? 0) > MOST_NAME)
    throw invalidField('name', `must have at most ${MOST_NAME} characters`)
  return store.updatePreferences(sql, personId, preferences)
}

/** A person of this place. A person of another place is not found. */
export async function requirePerson(sql: Sql, place: Place, personId: number): Promise<Person> {
  const [person] = await store.selectPerson(sql, personId)
  const isHere =
    person?.kind === place.kind && person.companyId === place.companyId && person.partnerId === place.partnerId
  if (!isHere) throw notFound('Person')
  return person
}

/** The name of the company, or the login of the partner. The staff have no name. */
export async function nameOfPlace(sql: Sql, place: Place): Promise<string> {
  if (place.kind === 'COMPANY') return (await requireAnyCompany(sql, place.companyId)).name
  return place.kind === 'PARTNER' ? (await requirePartner(sql, place.partnerId)).login : ''
}

export async function personWithLogin(sql: Sql, login: string): Promise<Person | undefined> {
  const [person] = await store.selectPersonByLogin(sql, login)
  return person
}

/** Refused when the person has another role by now. */
export async function changeRole(sql: Transaction, person: Person, role: string): Promise<void> {
  const checked = checkedRole(person, role)
  await refuseLastOwner(sql, person, checked !== person.role)
  const { count } = await store.updateRole(sql, person, checked)
  if (count === 0) throw changedMeanwhile()
}

/** A deactivated person is out at once: every request asks whether the person may still come in. */
export async function deactivatePerson(sql: Transaction, person: Person): Promise<void> {
  await refuseLastOwner(sql, person, true)
  await store.updateDisabled(sql, person.personId, true)
  await store.deleteSessionsOf(sql, person.personId, null)
}

export const activatePerson = (sql: Sql, { personId }: Person) => store.updateDisabled(sql, personId, false)

/** Only the first role of each kind may change people, so the last person with it must stay. */
async function refuseLastOwner(sql: Transaction, person: Person, isLeaving: boolean) {
  const first = roles[person.kind][0]
  if (!isLeaving || person.role !== first || person.disabledAt) return
  const owners = await store.lockPeople(sql, person.kind, first, person)
  if (owners.every(({ personId }) => personId === person.personId))
    throw invalid(`The last person with the role ${first} must stay: give the role to somebody else first`)
}
