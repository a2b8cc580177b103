import { AppError, invalid } from '../../base/errors.ts'
import type { Pool, Sql } from '../../db/sql.ts'
import { partnerWithLogin } from '../partners/partners.ts'
import { hashPassword, isPassword } from '../partners/password.ts'
import { isRoleOf, type Person, roles } from './person.ts'
import * as store from './store.ts'

const STAFF = { kind: 'STAFF', companyId: null, partnerId: null } as const

/** Members of staff are made on the command line with a password, so that there is a first one. */
export async function createStaff(
  sql: Sql,
  login: string,
  password: string,
  role = 'admin',
): Promise<{ staffId: number }> {
  if (!isRoleOf('STAFF', role)) throw invalid(`role must be one of ${roles.STAFF.join(', ')}`)
  if (await partnerWithLogin(sql, login)) throw invalid(`A partner with the login "${login}" exists already`)
  const person = { ...STAFF, role, login, name: '', passwordHash: await hashPassword(password) }
  const [created] = await store.insertPerson(sql, person)
  if (!created) throw invalid(`A staff member with the login "${login}" exists already`)
  return { staffId: created.personId }
}

export const listStaff = (sql: Sql): Promise<Person[]> => store.listPeople(sql, STAFF)

/** A new password ends every session. */
export async function changeStaffPassword(pool: Pool, login: string, password: string): Promise<void> {
  const passwordHash = await hashPassword(password)
  await pool.begin(async sql => {
    const [person] = await store.selectPersonByLogin(sql, login)
    if (person?.kind !== 'STAFF')
      throw new AppError('not_found', `There is no member of staff with the login "${login}"`)
    await store.updatePassword(sql, person.personId, passwordHash)
    await store.deleteSessionsOf(sql, person.personId, null)
  })
}

/** Makes a member of staff answer to this password; sessions stay where it already does. */
export async function adoptStaffPassword(pool: Pool, login: string, password: string): Promise<void> {
  const credentials = await store.selectCredentials(pool, login)
  if (!credentials || credentials.isPartnerLogin) return
  const isSame = credentials.passwordHash !== null && (await isPassword(password, credentials.passwordHash))
  if (!isSame) await changeStaffPassword(pool, login, password)
}
