import { setImmediate as nextTurn } from 'node:timers/promises'
import { piecesOf } from '../base/pieces.ts'

/** Preparing more rows for one statement would block the event loop, and delay verification codes. */
const MOST_AT_ONCE = 250

/**
 * Sends one statement for each few of the items, in their order, and returns all rows. The database works on one statement
 * while the next one is prepared, and in between the event loop does other work. Within a transaction, because the order of
 * the statements is that of one connection.
 */
export async function inPieces<Item, Row>(
  items: readonly Item[],
  send: (some: Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const answers: Promise<readonly Row[]>[] = []
  for (const some of piecesOf(items, MOST_AT_ONCE)) {
    if (answers.length > 0) await nextTurn()
    const answer = send(some)
    // The driver sends a statement when its promise is first used. It is awaited below, maybe after it has failed.
    answer.catch(() => {})
    answers.push(answer)
  }
  return (await Promise.all(answers)).flat()
}
