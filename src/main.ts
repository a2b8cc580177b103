import { printable } from './base/printable.ts'
import { commands } from './commands/all-commands.ts'
import { runCommandLine } from './commands/command-line.ts'
import { sentenceOf } from './commands/failure.ts'

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
})

try {
  await runCommandLine(commands, process.argv.slice(2), process.env)
} catch (error) {
  const sentence = sentenceOf(error)
  if (sentence === undefined) throw error
  process.stderr.write(`tidings: ${printable(sentence)}\n`)
  process.exitCode = 1
}
