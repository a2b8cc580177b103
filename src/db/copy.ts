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
 * COPY ... FROM STDIN in PostgreSQL's text form, inside a transaction. `produce` writes pieces of whole rows; each
 * piece waits for the socket before the next is made, so memory does not grow with the number of rows.
 *
 * The driver hands out the stream and then forgets the query: a row that the server refuses after the last write
 * would leave `end()` waiting for ever. The query object still hears its end, so we listen there.
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
  stream.on('error', () => {}) // told by `done`, with the server's own words
  try {
    await produce(async rows => {
      if (refusal) throw refusal // a lost connection's stream would write into the next connection's socket
      if (stream.write(rows)) return
      await Promise.race([once(stream, 'drain'), done])
      // A fast server drains within the same turn of the event loop, for ever: without a new turn nobody else is
      // served, and its refusal is not heard.
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
  done.catch(() => {}) // awaited above; a refusal before that is not an unhandled one
  return done
}

export const copyRow = (values: CopyValue[]): string => `${values.map(copyField).join('\t')}\n`

const copyField = (value: CopyValue): string =>
  value === null ? '\\N' : typeof value === 'string' ? copyText(value) : String(value)

/** Most texts need no escaping: looking is cheaper than replacing. */
export const copyText = (value: string): string => (special.test(value) ? value.replace(everySpecial, escapeOf) : value)

const special = /[\\\t\n\r]/
const everySpecial = /[\\\t\n\r]/g
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const escapeOf = (char: string) => escapes[char]!
