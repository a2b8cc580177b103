import { commands } from './commands/all-commands.ts'
import { runCommandLine } from './commands/command-line.ts'
import { reportFailure, reportFailures } from './commands/failure.ts'
import { withEnvFile } from './config.ts'

// A reader that has seen enough, such as `head`, is no error. Anything else is, yet the command still closes its database.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') reportFailure(`The output could not be written: ${error.message}.`)
})

await reportFailures(async () => {
  // Into the environment itself, for the engine that `serve` starts: both must have the same settings.
  const readEnv = () => Object.assign(process.env, withEnvFile(process.env))
  await runCommandLine(commands, process.argv.slice(2), readEnv)
})
