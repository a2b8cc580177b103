import type { Transaction } from './sql.ts'

const LARGEST_PIECE = 512

/**
 * Inserts rows in pieces of 512, 256, … 2 and 1 rows, for statements such as `insert into lanes ${sql(piece)}`. The driver
 * prepares each text and keeps it as long as the connection, and the text changes with the number of rows. So each
 * statement has ten texts, not one for each number of rows. A transaction stores all pieces or none, and sends them together,
 * without a round trip for each of them. The results are in the order of the rows.
 */
export async function insertPieces<Row, Result>(
  sql: Transaction,
  rows: readonly Row[],
  insert: (sql: Transaction, piece: Row[]) => PromiseLike<readonly Result[]>,
): Promise<Result[]> {
  return (await Promise.all(piecesOf(rows).map(piece => insert(sql, piece)))).flat()
}

function piecesOf<Row>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = []
  for (let from = 0, size = LARGEST_PIECE; from < rows.length; ) {
    if (size > rows.length - from) size /= 2
    else {
      pieces.push(rows.slice(from, from + size))
      from += size
    }
  }
  return pieces
}
