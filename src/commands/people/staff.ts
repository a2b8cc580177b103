import { allowLongWork } from '../../db/patience.ts'
import { personWithLogin } from '../../domain/people/people.ts'
import type { Person } from '../../domain/people/person.ts'
import { changeStaffPassword, createStaff, listStaff } from '../../domain/people/staff.ts'
import { noStaff, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { textOption } from '../command-line.ts'
import { recorded } from '../recorded.ts'
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
    const { role } = call.options
    const { staffId } = await recorded(sql, async (tx, record) => {
      await allowLongWork(tx) // the hash of a password takes seconds on a busy machine
      const created = await createStaff(tx, login, password, role)
      const subject = { kind: 'person', id: created.staffId, name: login }
      await record({ what: 'staff.created', subject, after: { login, role } })
      return created
    })
    call.print(
      { staffId, login, role },
      `Staff member ${staffId} with the login ${login} and the role ${role} was made.`,
    )
  })
}

export async function setPassword(call: Call) {
  const login = textOption(call, 'login')
  const password = await newPasswordIn(call, login)
  await withDatabase(call.config, async ({ sql }) => {
    await recorded(sql, async (tx, record) => {
      await allowLongWork(tx) // the hash of a password takes seconds on a busy machine
      await orAdvise(noStaff(login), changeStaffPassword(tx, login, password))
      const subject = { kind: 'person', id: (await personWithLogin(tx, login))!.personId, name: login }
      await record({ what: 'staff.password_changed', subject })
    })
    call.print({ login }, `The password of ${login} was changed.`)
  })
}

const present = ({ personId, login, role, createdAt, disabledAt }: Person) => ({
  staffId: personId,
  login,
  role,
  disabled: disabledAt !== null,
  createdAt: createdAt.toISOString(),
})

const tableOf = (members: Person[]) =>
  table(
    ['ID', 'CREATED', 'ROLE', 'LOGIN', ''],
    members.map(({ personId, role, login, createdAt, disabledAt }) => [
      personId,
      createdAt.toISOString().slice(0, 10),
      role,
      login,
      disabledAt ? 'deactivated' : '',
    ]),
  )
