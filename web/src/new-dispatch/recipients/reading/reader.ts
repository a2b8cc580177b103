import type { Problem, Results, Task, ToldOf } from './tasks.ts'

/** The worker could not do its task. */
export class ReadingFailed extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

type Options = { signal?: AbortSignal; onProgress?(done: number): void; onWaiting?(): void }

/** Runs one task in a worker. After an abort by the signal the promise never settles. */
export function runTask<Kind extends Task['kind']>(
  task: Extract<Task, { kind: Kind }>,
  options: Options = {},
): Promise<Results[Kind]> {
  const worker = new Worker(new URL('./recipients.worker.ts', import.meta.url), { type: 'module' })
  return runWorker(worker, task, options)
}

/** Runs a task in a worker of another page. */
export function runWorker<Result>(
  worker: Worker,
  task: object,
  { signal, onProgress, onWaiting }: Options = {},
): Promise<Result> {
  signal?.addEventListener('abort', () => worker.terminate())
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<ToldOf<Result>>) => {
      if (data.told === 'progress') return onProgress?.(data.done)
      if (data.told === 'waiting') return onWaiting?.()
      worker.terminate()
      if (data.told === 'done') resolve(data.result)
      else reject(new ReadingFailed(data.problem))
    }
    worker.onerror = ({ message }) => {
      worker.terminate()
      reject(new ReadingFailed({ kind: 'file', reason: 'broken', message }))
    }
    worker.postMessage(task)
  })
}
