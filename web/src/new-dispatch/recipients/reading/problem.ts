import { UnreadableFile } from '../files/file-form.ts'
import { Refusal } from './post.ts'
import type { Problem } from './tasks.ts'

/** The error that ended the task of a worker. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) return { kind: 'server', status: error.status, message: error.message }
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'file', reason: error instanceof UnreadableFile ? error.reason : 'broken', message }
}
