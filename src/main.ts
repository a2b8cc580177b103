import { printable } from './base/printable.ts'
import { commands } from './commands/all-commands.ts'
import { runCommandLine } from './commands/command-line.ts'
import { sentenceOf } from './commands/failure.ts'
import { withEnvFile } from './config.ts'

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
})

try {
  // Into the environment itself, for the engine that `serve` starts: both must have the same settings.
  Object.assign(process.env, withEnvFile(process.env))
  await runCommandLine(commands, process.argv.slice(2), process.env)
} catch (error) {
  const sentence = sentenceOf(error)
  if (sentence === undefined) throw error
  const overProgress = process.stderr.isTTY ? '\r\x1b[K' : ''
  process.stderr.write(`${overProgress}tidings: ${printable(sentence)}\n`)
  process.exitCode = 1
}
