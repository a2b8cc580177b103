import { checkRecipients } from './check.ts'
import { UnreadableFile } from './file-form.ts'
import { lookAt } from './look.ts'
import { Refusal } from './post.ts'
import type { Problem, Task, Told } from './tasks.ts'
import { uploadRecipients } from './upload.ts'

/** Reads files beside the page, so that it stays quick. A worker does one task and is ended by the page. */

const tell = (told: Told) => postMessage(told)
const telling = {
  onProgress: (done: number) => tell({ told: 'progress', done }),
  onWaiting: () => tell({ told: 'waiting' }),
}

self.onmessage = async ({ data: task }: MessageEvent<Task>) => {
  try {
    tell({ told: 'done', result: await work(task) })
  } catch (error) {
    tell({ told: 'failed', problem: problemOf(error) })
  }
}

function work(task: Task) {
  if (task.kind === 'look') return lookAt(task.file)
  if (task.kind === 'check') return checkRecipients(task.reading, task.dispatch, task.place, telling)
  return uploadRecipients(task, telling)
}

function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) return { kind: 'server', status: error.status, message: error.message }
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'file', reason: error instanceof UnreadableFile ? error.reason : 'broken', message }
}
