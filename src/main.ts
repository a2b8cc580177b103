import { UsageError } from './base/errors.ts'
import { runCommandLine } from './commands/command-line.ts'
import { companyCommands } from './commands/companies.ts'
import { configCommand } from './commands/config.ts'
import { keyCommands } from './commands/keys.ts'
import { migrateCommand } from './commands/migrate.ts'
import { numberingCommands } from './commands/numbering.ts'
import { partnerCommands } from './commands/partners.ts'
import { senderCommands } from './commands/senders.ts'
import { apiCommand, engineCommand, serveCommand } from './commands/serve.ts'
import { staffCommands } from './commands/staff.ts'

const commands = [
  serveCommand,
  apiCommand,
  engineCommand,
  migrateCommand,
  configCommand,
  ...partnerCommands,
  ...staffCommands,
  ...companyCommands,
  ...keyCommands,
  ...senderCommands,
  ...numberingCommands,
]

try {
  await runCommandLine(commands, process.argv.slice(2), process.env)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`tidings: ${error.message}\n`)
  process.exitCode = 1
}
