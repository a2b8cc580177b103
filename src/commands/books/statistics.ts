import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { brandOf } from '../../domain/numbering/brand.ts'
import { type Difference, rebuildTraffic, type Scope, verifyTraffic } from '../../domain/statistics/verify.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { optionalId, timeOption } from '../options.ts'
import { table } from '../table.ts'

export async function verify(call: Call) {
  const scope = scopeOf(call)
  const { companyId } = scope
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const differences = await verifyTraffic(sql, scope, (done, of) => call.progress(`${done} of ${of} months counted`))
    call.progress('')
    call.print(
      differences.map(present),
      differences.length === 0 ? 'The statistics equal the messages.' : tableOf(differences),
    )
    if (differences.length > 0) process.exitCode = 1
  })
}

export async function rebuild(call: Call) {
  await withDatabase(call.config, async ({ sql }) => {
    const mended = await rebuildTraffic(sql, (done, of) => call.progress(`${done} of ${of} companies counted`))
    call.progress('')
    call.print({ mended }, mended === 0 ? 'The statistics equal the messages.' : `${mended} figures were mended.`)
  })
}

function scopeOf(call: Call): Scope {
  const [companyId, from, to] = [optionalId(call, 'company'), timeOption(call, 'from'), timeOption(call, 'to')]
  return { ...(companyId === undefined ? {} : { companyId }), ...(from ? { from } : {}), ...(to ? { to } : {}) }
}

const present = ({ brandId, ...difference }: Difference) => ({ ...difference, operator: operatorOf(brandId) })

const operatorOf = (brandId: number) => brandOf(brandId) ?? null

const MOST_LINES = 1000

const tableOf = (differences: Difference[]) => {
  const lines = table(
    ['COMPANY', 'HOUR', 'CHANNEL', 'OPERATOR', 'TYPE', 'WHAT', 'ROLLED UP', 'COUNTED'],
    differences
      .slice(0, MOST_LINES)
      .map(({ companyId, hour, channelType, brandId, trafficType, what, rolledUp, counted }) => [
        companyId,
        hour.toISOString().slice(0, 13).concat('Z'),
        channelType,
        operatorOf(brandId),
        trafficType,
        what,
        rolledUp,
        counted,
      ]),
  )
  const left = differences.length - MOST_LINES
  return left > 0 ? `${lines}\n${left.toLocaleString('en')} more: --json lists all of them.` : lines
}
