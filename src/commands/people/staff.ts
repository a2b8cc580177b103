import { createStaff } from '../../domain/partners/partners.ts'
import { type Call, withDatabase } from '../command.ts'
import { credentialsIn } from './credentials.ts'

export async function createOne({ config, options, print }: Call) {
  const { login, password } = credentialsIn(options)
  await withDatabase(config, async ({ sql }) => {
    const { staffId } = await createStaff(sql, login, password)
    print({ staffId, login }, `Staff member ${staffId} with the login ${login} was made.`)
  })
}
