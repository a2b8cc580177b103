import { connect } from '../db/sql.ts'

/**
 * A process that locks the account of a company and stays in that transaction, for tests that freeze it:
 * `node locking-process.ts DATABASE_URL COMPANY_ID IDLE_MS`. It prints `locked` when it has the lock, and prints the
 * result of its transaction after it continues.
 */
const [url, companyId, idleMs] = process.argv.slice(2)
const sql = connect(url!, { max: 1, idleInTransactionMs: Number(idleMs) })
const say = (line: string) => process.stdout.write(`${line}\n`)
const woken = new Promise(resolve => process.on('SIGCONT', resolve))

await sql
  .begin(async tx => {
    await tx`select from accounts where company_id = ${Number(companyId)} for update`
    say('locked')
    await woken
    await tx`select 1`
  })
  .then(
    () => say('kept its transaction'),
    error => say(`lost its transaction: ${error.code}`),
  )
await sql`select 1`
say('goes on')
await sql.end({ timeout: 1 })
