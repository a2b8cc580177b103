import { problemOf } from '../new-dispatch/recipients/reading/problem.ts'
import type { ToldOf } from '../new-dispatch/recipients/reading/tasks.ts'
import { type ImportReport, type ImportTask, importNumbers } from './import-numbers.ts'

/** Reads the file in a worker, so that the page stays responsive. */

const tell = (told: ToldOf<ImportReport>) => postMessage(told)
const listener = {
  onProgress: (done: number) => tell({ told: 'progress', done }),
  onWaiting: () => tell({ told: 'waiting' }),
}

self.onmessage = async ({ data: task }: MessageEvent<ImportTask>) => {
  try {
    tell({ told: 'done', result: await importNumbers(task, listener) })
  } catch (error) {
    tell({ told: 'failed', problem: problemOf(error) })
  }
}
