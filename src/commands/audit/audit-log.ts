import { AppError, UsageError } from '../../base/errors.ts'
import { databaseNow } from '../../db/clock.ts'
import { dropOldMonths, type Entry, listEntries } from '../../domain/audit-log/audit-log.ts'
import { auditActions } from '../../domain/audit-log/entry.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { given } from '../command-line.ts'
import { choiceOption, limitOption, optionalId, timeOption } from '../options.ts'
import { recorded } from '../recorded.ts'
import { table } from '../table.ts'

export async function listSome(call: Call) {
  const companyId = optionalId(call, 'company')
  const filter = {
    companyId,
    actor: call.options.person,
    what: choiceOption(call, 'what', auditActions),
    from: timeOption(call, 'from'),
    to: timeOption(call, 'to'),
  }
  const limit = limitOption(call)
  await withDatabase(call.config, async ({ sql }) => {
    if (companyId !== undefined) await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const { entries, next } = await listEntries(sql, filter, limit)
    const more = next ? '\nThere are older ones: --limit shows more.' : ''
    call.print(entries, entries.length > 0 ? tableOf(entries) + more : 'There are no such changes.')
  })
}

export async function dropOld(call: Call) {
  const before = given(timeOption(call, 'before'), '--before')
  await withDatabase(call.config, async ({ sql }) => {
    const dropped = await recorded(sql, async (tx, record) => {
      const now = await databaseNow(tx)
      const done = await refusing(tx.begin(inner => dropOldMonths(inner, before, now)))
      const subject = { kind: 'audit_log', id: before.toISOString().slice(0, 10) }
      await record(done.months.length > 0 ? { what: 'audit_log.dropped', subject, after: done } : undefined)
      return done
    })
    const { months, entries } = dropped
    const text = `${entries} entries of ${months.join(', ')} are dropped.`
    call.print(dropped, months.length > 0 ? text : 'There are no months to drop.')
  })
}

async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError ? new UsageError(`--before is too late: ${error.message}.`) : error
  }
}

const tableOf = (entries: Entry[]) =>
  table(
    ['AT', 'WHO', 'FROM', 'WHAT', 'SUBJECT', 'COMPANY', 'BEFORE', 'AFTER'],
    entries.map(entry => [
      `${entry.at.toISOString().slice(0, 19)}Z`,
      entry.actor,
      entry.address ?? 'command line',
      entry.what,
      [entry.subjectKind, entry.subjectId, entry.subjectName].filter(Boolean).join(' '),
      entry.companyId,
      entry.before && JSON.stringify(entry.before),
      entry.after && JSON.stringify(entry.after),
    ]),
  )
