import { type Difference, verifyLedger } from '../../domain/audit/verify.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { optionalId } from '../options.ts'
import { table } from '../table.ts'

export async function verify(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const differences = await verifyLedger(sql, companyId === undefined ? {} : { companyId })
    call.print(differences, differences.length === 0 ? 'The books are in order.' : tableOf(differences))
    if (differences.length > 0) process.exitCode = 1
  })
}

const tableOf = (differences: Difference[]) =>
  table(
    ['COMPANY', 'EXPECTED', 'FOUND', 'WHAT', 'OF'],
    differences.map(({ companyId, expected, found, what, of }) => [companyId, expected, found, what, of]),
  )
