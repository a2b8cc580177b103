import type { StaffMember } from '../../domain/partners/partner.ts'
import { changeStaffPassword, createStaff, listStaff } from '../../domain/partners/partners.ts'
import { noStaff, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { table } from '../table.ts'
import { newLoginIn, newPasswordIn } from './credentials.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const members = await listStaff(sql)
    print(members.map(present), tableOf(members))
  })
}

export async function createOne(call: Call) {
  const login = newLoginIn(call)
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    const { staffId } = await createStaff(sql, login, password)
    call.print({ staffId, login }, `Staff member ${staffId} with the login ${login} was made.`)
  })
}

export async function setPassword(call: Call) {
  const login = call.options.login!
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noStaff(login), changeStaffPassword(sql, login, password))
    call.print({ login }, `The password of ${login} was changed.`)
  })
}

const present = ({ staffId, login, createdAt }: StaffMember) => ({
  staffId,
  login,
  createdAt: createdAt.toISOString(),
})

const tableOf = (members: StaffMember[]) =>
  table(
    ['ID', 'CREATED', 'LOGIN'],
    members.map(({ staffId, login, createdAt }) => [staffId, createdAt.toISOString().slice(0, 10), login]),
  )
