import { AppError, UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Pool } from '../../db/sql.ts'
import { eraseNumber, type Plan, planErasure } from '../../domain/erasure/erasure.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf } from '../command-line.ts'
import { readNumber } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function eraseOne(call: Call) {
  const digits = readNumber(argumentOf(call), 'NUMBER')
  await withDatabase(call.config, async ({ sql }) => {
    if (!call.switches.yes) return printPlan(call, await refusing(planErasure(sql, digits)))
    const context = { billingZone: call.config.billingZone, now: await databaseNow(sql) }
    const done = await refusing(eraseNumber(sql, digits, { ...context, record: plan => recordErasure(sql, plan) }))
    if (done.objections.length > 0) throw new UsageError(`Nothing was erased: ${done.objections.join('; ')}.`)
    if (done.left.length > 0) throw new UsageError(`The number is not erased completely: ${done.left.join('; ')}.`)
    const isFound = done.naming.length > 0
    call.print({ erased: true, ...done }, isFound ? `${tableOf(done)}\nThe number is erased.` : tableOf(done))
  })
}

/** The erasure has many transactions: it is recorded right before them, without the number. */
const recordErasure = (sql: Pool, { naming }: Plan) =>
  recorded(sql, (_, record) =>
    record({
      what: 'number.erased',
      subject: { kind: 'number', id: 'erased' },
      after: Object.fromEntries(naming.map(({ table, rows }) => [table, rows])),
    }),
  )

function printPlan(call: Call, plan: Plan) {
  const refusal = plan.objections.map(objection => `\nNot possible yet: ${objection}.`).join('')
  const ready = 'Nothing was changed. `--yes` erases the number, which cannot be undone.'
  call.print({ erased: false, ...plan }, `${tableOf(plan)}\n${ready}${refusal}`)
}

const tableOf = ({ naming }: Plan) =>
  naming.length === 0
    ? 'No table has the number.'
    : table(
        ['TABLE', 'ROWS'],
        naming.map(({ table, rows }) => [table, rows]),
      )

async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? new UsageError(`${error.message}.`) : error
  }
}
