import { vi } from 'vitest'
import { commands } from '../commands/all-commands.ts'
import { runCommandLine } from '../commands/command-line.ts'

/** The stdout of `tidings WORDS`, run in this process. A process for each command would take ten times as long. */
export async function printedBy(words: string[], env: Record<string, string> = {}): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await runCommandLine(commands, words, () => env)
    return write.mock.calls.map(([text]) => text).join('')
  } finally {
    write.mockRestore()
  }
}
