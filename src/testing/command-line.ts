import { expect, vi } from 'vitest'
import { commands } from '../commands/all-commands.ts'
import { runCommandLine } from '../commands/command-line.ts'
import { reportFailures } from '../commands/failure.ts'
import { cleanEnv, type Ended, type Env } from './processes.ts'

/** The stdout of `tidings WORDS`, run in this process. A process for each command would take ten times as long. */
export async function printedBy(words: string[], env: Record<string, string> = {}): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await runCommandLine(commands, words, () => env)
    return textOf(write.mock.calls)
  } finally {
    write.mockRestore()
  }
}

/** Like `run` of processes.ts, in this process: one command at a time. */
export async function runHere(words: string[], env: Env): Promise<Ended> {
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const { exitCode } = process
  process.exitCode = undefined
  try {
    await reportFailures(() => runCommandLine(commands, words, () => cleanEnv(env)))
    const code = Number(process.exitCode ?? 0)
    return { code, signal: null, stdout: textOf(stdout.mock.calls), stderr: textOf(stderr.mock.calls) }
  } finally {
    process.exitCode = exitCode
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

const textOf = (calls: unknown[][]) => calls.map(([text]) => text).join('')

/** Like `answerOf` of processes.ts, in this process. */
export async function answerHere(words: string[], env: Env) {
  const { code, stdout, stderr } = await runHere([...words, '--json'], env)
  expect({ code, stderr }, `tidings ${words.join(' ')}`).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
