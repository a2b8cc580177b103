import { createWriteStream, existsSync } from 'node:fs'
import { link, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../../base/errors.ts'
import { dataDirOf, openDatabase } from '../../db/database.ts'
import { upgradeEmbedded } from '../../db/embedded/upgrade.ts'
import { exportDatabase, importDatabase } from '../../db/transfer.ts'
import { type Call, closingAfterwards, withDatabase } from '../command.ts'
import { argumentOf } from '../command-line.ts'
import { withFile } from '../file.ts'

/**
 * Into a draft beside it, which takes the name of the file when it is complete: no half of an export looks like one.
 */
export async function exportFile(call: Call) {
  const file = resolve(argumentOf(call))
  const draft = `${file}.part`
  await openDraft(file, draft)
  const removeDraft = () => rm(draft, { force: true })
  try {
    await withDatabase(
      call.config,
      async ({ sql, secret }) => {
        const to = createWriteStream(draft, { mode: 0o600, flush: true })
        const done = await exportDatabase(sql, secret, to, tell(call, 'written'))
        await link(draft, file)
        call.progress('')
        call.print({ file, ...done }, `${done.rows} rows of ${done.tables} tables were written to ${file}.`)
      },
      { farewell: () => void removeDraft() },
    )
  } finally {
    await removeDraft()
  }
}

/** Checks before the database is opened that the file does not exist and its folder is writable. */
async function openDraft(file: string, draft: string) {
  if (existsSync(file)) throw new UsageError(`"${file}" is there already: name another file.`)
  await writeFile(draft, '', { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`"${file}" cannot be written: ${error.code}.`)
  })
}

export async function importFile(call: Call) {
  await withFile(argumentOf(call), async source => {
    const database = await openDatabase(call.config, { create: true, exclusive: true })
    await closingAfterwards(database, async () => {
      const done = await importDatabase(database.sql, database.secret, source, tell(call, 'read'))
      call.progress('')
      call.print(
        done,
        `${done.rows} rows of ${done.tables} tables are in ${database.place} now; \`tidings ledger verify\` recomputes the money.`,
      )
    })
  })
}

const tell = (call: Call, what: string) => (table: string, rows: number) =>
  call.progress(`${table}: ${rows} rows ${what}`)

export async function upgrade(call: Call) {
  if (call.config.databaseUrl) {
    throw new UsageError('DATABASE_URL names a PostgreSQL of your own: upgrade it as its makers say.')
  }
  const done = await upgradeEmbedded(dataDirOf(call.config), call.progress)
  call.progress('')
  call.print(
    done ?? { upgraded: false },
    done
      ? `The database is one of PostgreSQL ${done.to} now, with all ${done.rows} rows. The former one, of PostgreSQL ${done.from}, is in ${done.formerDir}: remove it when you need it no more.`
      : 'The database is of the version that this Tidings brings: there is nothing to do.',
  )
}
