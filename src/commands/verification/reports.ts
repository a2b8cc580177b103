import { UsageError } from '../../base/errors.ts'
import { formatMoney } from '../../base/money.ts'
import { databaseNow } from '../../db/clock.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import {
  type BlockedSubject,
  blockedSubjects,
  type StatisticsRow,
  unblockSubject,
  verificationStatistics,
} from '../../domain/verifications/verifications.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { table } from '../table.ts'

const WEEK_MS = 7 * 24 * 3600_000

export async function showStatistics(call: Call) {
  const companyId = idOption(call, 'company')
  const { gateway, from, to } = { from: dayOption(call, 'from'), to: dayOption(call, 'to'), ...pickGateway(call) }
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const today = await databaseNow(sql)
    const period = { from: from ?? dayOf(new Date(today.getTime() - WEEK_MS)), to: to ?? dayOf(today) }
    const rows = await verificationStatistics(sql, companyId, { ...period, ...gateway })
    call.print(rows.map(present), rows.length > 0 ? statisticsTable(rows) : 'No codes were sent in these days.')
  })
}

const pickGateway = ({ options: { gateway } }: Call) => ({
  gateway: gateway === undefined ? {} : { verifierId: gateway },
})

function dayOption(call: Call, name: string): string | undefined {
  const text = call.options[name]
  if (text !== undefined && (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text))))
    throw new UsageError(`--${name} must be a day such as 2026-05-01, not "${text}".`)
  return text
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10)

const costOfConfirmed = ({ cost, confirmed }: StatisticsRow) =>
  confirmed > 0 ? formatMoney((cost + BigInt(confirmed) / 2n) / BigInt(confirmed)) : null

const secondsToConfirm = ({ confirmMs, confirmed }: StatisticsRow) =>
  confirmed > 0 ? Math.round(confirmMs / confirmed / 100) / 10 : null

const present = (row: StatisticsRow) => ({
  gatewayId: row.verifierId,
  day: row.day,
  channelType: row.channelType,
  country: row.country,
  sent: row.sent,
  delivered: row.delivered,
  confirmed: row.confirmed,
  secondsToConfirm: secondsToConfirm(row),
  cost: formatMoney(row.cost),
  costOfConfirmed: costOfConfirmed(row),
})

const statisticsTable = (rows: StatisticsRow[]) =>
  table(
    ['DAY', 'VERIFIER', 'CHANNEL', 'COUNTRY', 'SENT', 'DELIVERED', 'CONFIRMED', 'SECONDS', 'COST', 'PER CONFIRMED'],
    rows.map(row => [
      row.day,
      row.verifierId,
      row.channelType,
      row.country,
      row.sent,
      row.delivered,
      row.confirmed,
      secondsToConfirm(row),
      formatMoney(row.cost),
      costOfConfirmed(row),
    ]),
  )

export async function listBlocked(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    const blocked = await blockedSubjects(sql, companyId)
    call.print(blocked, blocked.length > 0 ? blockedTable(blocked) : 'Nothing is blocked.')
  })
}

const blockedTable = (blocked: BlockedSubject[]) =>
  table(
    ['COMPANY', 'SUBJECT', 'UNTIL', 'TIMES', 'WHY'],
    blocked.map(one => [one.companyId, one.subject, one.blockedUntil.toISOString(), one.blocks, one.reason]),
  )

export async function unblockOne(call: Call) {
  const companyId = idOption(call, 'company')
  const { subject } = call.options
  await withDatabase(call.config, async ({ sql }) => {
    if (!(await unblockSubject(sql, companyId, subject!)))
      throw new UsageError(
        `"${subject}" is not known in company ${companyId}: \`tidings verifier blocked\` lists them.`,
      )
    call.print({ companyId, subject }, `Codes are sent for ${subject} again.`)
  })
}
