import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own, so that its processor time contains no other work. */
export type Child = {
  pid: number
  port: number
  /** The most memory it has held so far. */
  peakBytes(): Promise<number>
  stop(): Promise<void>
}

export async function startChild(file: string, env: Record<string, string>): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { port } = await answerOf(child, file)
  return {
    pid: child.pid!,
    port,
    async peakBytes() {
      child.send('memory')
      return (await answerOf(child, file)).peakBytes
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function answerOf(child: ChildProcess, file: string) {
  const listening = new AbortController()
  const { signal } = listening
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error(`${file} ended on its own`)
  })
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended])
    return answer
  } finally {
    ended.catch(() => {}) // the bench no longer waits for it
    listening.abort()
  }
}

/** The side of the child: it runs until its parent ends, and ignores Ctrl-C. */
export function serveParent(port: number, close: () => Promise<void>) {
  process.on('SIGINT', () => {})
  process.on('message', () => process.send!({ peakBytes: process.resourceUsage().maxRSS * 1024 }))
  process.on('disconnect', () => close().finally(() => process.exit()))
  process.send!({ port })
}
