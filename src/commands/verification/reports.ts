import { UsageError } from '../../base/errors.ts'
import { formatMoney, type Money } from '../../base/money.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import {
  type BlockedSubject,
  blockedSubjects,
  type StatisticsRow,
  unblockSubject,
  verificationStatistics,
} from '../../domain/verifications/verifications.ts'
import { hadVerifier } from '../../domain/verifiers/verifiers.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { idOption, textOption } from '../command-line.ts'
import { optionalId } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

const DAY_MS = 24 * 3600_000
/** Six days before today: seven days in all. */
const USUAL_DAYS_BACK = 6

export async function showStatistics(call: Call) {
  const companyId = idOption(call, 'company')
  const { gateway } = call.options
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    if (gateway !== undefined && !(await hadVerifier(sql, companyId, gateway)))
      throw new UsageError(
        `Company ${companyId} has no verifier "${gateway}": \`tidings verifier list\` and \`tidings widget list\` show them.`,
      )
    await printStatistics(call, sql, companyId, gateway)
  })
}

/** The reports of one verifier or widget, or of all verifiers and widgets of the company. */
export async function printStatistics(call: Call, sql: Pool, companyId: number, verifierId: string | undefined) {
  const given = { from: dayOption(call, 'from'), to: dayOption(call, 'to') }
  const period = periodOf(given, await databaseNow(sql))
  const filter = verifierId === undefined ? period : { ...period, verifierId }
  const rows = await verificationStatistics(sql, companyId, filter)
  const none = `No codes were sent from ${period.from} to ${period.to} (UTC).`
  call.print(rows.map(present), rows.length > 0 ? statisticsTable(rows) : none)
}

function periodOf(given: { from: string | undefined; to: string | undefined }, now: Date) {
  const to = given.to ?? dayOf(now)
  const from = given.from ?? dayOf(new Date(Date.parse(to) - USUAL_DAYS_BACK * DAY_MS))
  if (from > to) throw new UsageError(`--from must not be after --to: ${from} is after ${to}.`)
  return { from, to }
}

function dayOption(call: Call, name: string): string | undefined {
  const text = call.options[name]
  if (text !== undefined && !isDay(text))
    throw new UsageError(`--${name} must be a day such as 2026-05-01, not "${text}".`)
  return text
}

/** A day of the calendar: February has no 30th. */
const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(new Date(text)) === text

const dayOf = (time: Date) => time.toISOString().slice(0, 10)

type Sums = Pick<StatisticsRow, 'sent' | 'delivered' | 'confirmed' | 'cost' | 'confirmMs'>

const costOfConfirmed = ({ cost, confirmed }: Sums) =>
  confirmed > 0 ? formatMoney((cost + BigInt(confirmed) / 2n) / BigInt(confirmed)) : null

const secondsToConfirm = ({ confirmMs, confirmed }: Sums) =>
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

/** The rows, below them their sums. */
const statisticsTable = (rows: StatisticsRow[]) =>
  table(
    ['DAY', 'VERIFIER', 'CHANNEL', 'COUNTRY', 'SENT', 'DELIVERED', 'CONFIRMED', 'TIME', 'COST', 'PER CONFIRMED'],
    [
      ...rows.map(row => [row.day, row.verifierId, row.channelType, row.country, ...sumCells(row)]),
      ...(rows.length > 1 ? [['All', '', '', '', ...sumCells(sumOf(rows))]] : []),
    ],
  )

const sumCells = (sums: Sums) => [
  sums.sent,
  withShare(sums.delivered, sums.sent),
  withShare(sums.confirmed, sums.sent),
  sums.confirmed > 0 ? `${secondsToConfirm(sums)} s` : null,
  formatMoney(sums.cost),
  costOfConfirmed(sums),
]

const withShare = (part: number, whole: number) =>
  whole > 0 ? `${part} (${Math.round((part / whole) * 100)} %)` : String(part)

function sumOf(rows: StatisticsRow[]): Sums {
  const sums = { sent: 0, delivered: 0, confirmed: 0, cost: 0n as Money, confirmMs: 0 }
  for (const row of rows) {
    sums.sent += row.sent
    sums.delivered += row.delivered
    sums.confirmed += row.confirmed
    sums.cost += row.cost
    sums.confirmMs += row.confirmMs
  }
  return sums
}

export async function listBlocked(call: Call) {
  const companyId = optionalId(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const blocked = await blockedSubjects(sql, companyId)
    const now = await databaseNow(sql)
    call.print(blocked, blocked.length > 0 ? blockedTable(blocked, now) : 'Nothing is blocked.')
  })
}

const blockedTable = (blocked: BlockedSubject[], now: Date) =>
  [
    table(
      ['COMPANY', 'SUBJECT', 'BLOCKED UNTIL', 'LEFT', 'TIMES', 'WHY'],
      blocked.map(one => [
        one.companyId,
        one.subject,
        `${one.blockedUntil.toISOString().slice(0, 19)}Z`,
        timeLeft(one.blockedUntil.getTime() - now.getTime()),
        one.blocks,
        one.reason,
      ]),
    ),
    '`tidings verifier unblock --company N --subject SUBJECT` ends a block.',
  ].join('\n')

function timeLeft(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000))
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export async function unblockOne(call: Call) {
  const companyId = idOption(call, 'company')
  const subject = textOption(call, 'subject').trim()
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const isUnblocked = await recorded(sql, async (tx, record) => {
      const isEnded = await unblockSubject(tx, companyId, subject)
      const blocked = { kind: 'block', id: subject }
      await record(isEnded ? { what: 'verifier.unblocked', subject: blocked, companyId } : undefined)
      return isEnded
    })
    if (!isUnblocked)
      throw new UsageError(
        `No codes are counted for "${subject}" in company ${companyId}: ` +
          '`tidings verifier blocked` shows subjects, such as prefix:7916000, number:79160000001 or company.',
      )
    call.print({ companyId, subject }, `Codes are sent again for ${subject} of company ${companyId}.`)
  })
}
