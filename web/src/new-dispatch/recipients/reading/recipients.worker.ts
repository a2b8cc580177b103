import { checkRecipients } from './check.ts'
import { lookAt } from './look.ts'
import { problemOf } from './problem.ts'
import type { Task, Told } from './tasks.ts'
import { uploadRecipients } from './upload.ts'

/** Reads files in a worker, so that the page stays responsive. A worker does one task, then the page ends it. */

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
  if (task.kind === 'look') return lookAt(task.file, task.sheet)
  if (task.kind === 'check') return checkRecipients(task.reading, task.dispatch, task.place, telling)
  return uploadRecipients(task, telling)
}
