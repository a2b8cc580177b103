import { Bits } from './bits.ts'
import { type Candidate, candidatesOf } from './candidates.ts'
import { AT_ONCE, recipientOf } from './check.ts'
import { postUntilAnswered } from './post.ts'
import type { Task } from './tasks.ts'

type Upload = Extract<Task, { kind: 'upload' }>
type Telling = { onProgress(done: number): void; onWaiting(): void }

/**
 * Adds the missing recipients to the dispatch. Each request names its first position and has its own Idempotency-Key,
 * so that a repeated upload adds no recipient twice.
 */
export async function uploadRecipients(task: Upload, { onProgress, onWaiting }: Telling): Promise<number> {
  const { place, dispatchId, key } = task
  const leftOut = new Bits(task.leftOut)
  let from = task.from
  let toSkip = task.from
  let ordinal = 0
  let batch: Candidate[] = []
  const send = async () => {
    if (batch.length === 0) return
    const body = { from, total: task.total, recipients: batch.map(recipientOf) }
    const path = `/new-dispatch/${dispatchId}/recipients`
    await postUntilAnswered(place, path, body, { key: `${key}:${from}`, onWaiting })
    from += batch.length
    batch = []
    onProgress(from)
  }
  for await (const candidate of candidatesOf(task.reading)) {
    if (leftOut.has(ordinal++)) continue
    if (toSkip > 0) toSkip -= 1
    else if (batch.push(candidate) === AT_ONCE) await send()
  }
  await send()
  return from
}
