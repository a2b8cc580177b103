import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction } from './sql.ts'

type CopyValue = string | number | null
type CopyQuery = {
  writable(): Promise<Writable>
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/**
 * COPY ... FROM STDIN in the text format of PostgreSQL, inside a transaction. `produce` writes pieces of whole rows.
 * Each piece waits for the socket before the next one is produced, so memory does not grow with the number of rows.
 *
 * The driver returns the stream and does not report later errors of the query to it: when the server refuses a row
 * after the last write, `end()` waits for ever: https://github.com/porsager/postgres/issues/1173 (open in version
 * 3.4.9). The query object is still settled, so this function waits for the query.
 */
export async function copyInto(
  sql: Transaction,
  table: string,
  columns: string[],
  produce: (write: (rows: string | Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const query = sql.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`) as unknown as CopyQuery
  const stream = await query.writable()
  const done = endOf(query)
  let refusal: unknown
  done.catch(error => {
    refusal = error
  })
  stream.on('error', () => {}) // `done` rejects with the error of the server
  try {
    await produce(async rows => {
      if (refusal) throw refusal // the stream of a lost connection would write into the socket of the next connection
      if (stream.write(rows)) return
      await Promise.race([once(stream, 'drain'), done])
      // A fast server drains within the same turn of the event loop. Without a new turn, other requests and the error
      // of the server would wait until the end of the COPY.
      await nextTurn()
    })
    if (refusal) throw refusal
    stream.end()
  } catch (error) {
    if (!refusal) stream.destroy(error as Error)
    await done.catch(() => {})
    throw error
  }
  await done
}

function endOf(query: CopyQuery): Promise<unknown> {
  const done = new Promise((resolve, reject) => {
    query.resolve = resolve
    query.reject = reject
  })
  done.catch(() => {}) // awaited above: an earlier rejection must not count as unhandled
  return done
}

export const copyRow = (values: CopyValue[]): string => `${values.map(copyField).join('\t')}\n`

const copyField = (value: CopyValue): string =>
  value === null ? '\\N' : typeof value === 'string' ? copyText(value) : String(value)

/** Most texts need no escaping, and a test is cheaper than a replacement. */
export const copyText = (value: string): string => (special.test(value) ? value.replace(everySpecial, escapeOf) : value)

const special = /[\\\t\n\r]/
const everySpecial = /[\\\t\n\r]/g
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const escapeOf = (char: string) => escapes[char]!
