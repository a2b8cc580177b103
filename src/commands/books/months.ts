import { UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Sql } from '../../db/sql.ts'
import { hasTextsToRemove } from '../../domain/erasure/old-texts.ts'
import { detachMonth, listMonths, type Month, refuseDetaching } from '../../domain/messages/months.ts'
import { type Call, withDatabase } from '../command.ts'
import { textOption } from '../command-line.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function listAll({ config, print }: Call) {
  await withDatabase(config, async ({ sql }) => {
    const months = await listMonths(sql, await databaseNow(sql))
    print(months, tableOf(months))
  })
}

export async function detachOne(call: Call) {
  const month = monthOption(call)
  await withDatabase(call.config, async ({ sql }) => {
    const now = await databaseNow(sql)
    const refusal = (await refuseDetaching(sql, month, now)) ?? (await refuseWithTexts(sql, month, call.config))
    const outcome =
      refusal === undefined ? await detachMonth(sql, month, now) : { kind: 'refused' as const, reason: refusal }
    if (outcome.kind === 'refused') throw new UsageError(`Month ${month} cannot be detached: ${outcome.reason}.`)
    const { messages, table } = outcome
    // Detaching has a transaction of its own kind: it is recorded right after.
    await recorded(sql, (_, record) =>
      record({ what: 'month.detached', subject: { kind: 'month', id: month }, after: { messages, table } }),
    )
    call.print(
      { month, messages, table },
      `Month ${month} is closed and detached: its ${messages} messages are in the table ${table}, to be archived or dropped.`,
    )
  })
}

/** As engines do: the service does not change a month that is detached. */
async function refuseWithTexts(sql: Sql, month: string, { keepTextsDays }: Call['config']) {
  if (!keepTextsDays || !(await hasTextsToRemove(sql, month))) return
  return `its texts are not removed yet. Engines remove texts when they are older than ${keepTextsDays} days (TIDINGS_KEEP_TEXTS_DAYS)`
}

function monthOption(call: Call): string {
  const text = textOption(call, 'month')
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) {
    throw new UsageError(`--month must be a month such as 2026-05, not "${text}".`)
  }
  return text
}

const tableOf = (months: Month[]) =>
  table(
    ['MONTH', 'STATE', 'MESSAGES', 'SIZE', 'IN THE WAY'],
    months.map(({ month, state, messages, sizeBytes, reason }) => [month, state, messages, sizeOf(sizeBytes), reason]),
  )

const UNITS = ['kB', 'MB', 'GB', 'TB']

function sizeOf(bytes: number | null): string | null {
  if (bytes === null) return null
  let [size, unit] = [bytes / 1024, 0]
  while (size >= 1024 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1]
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`
}
