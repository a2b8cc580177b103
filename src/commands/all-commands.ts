import type { Command } from './command.ts'
import { companyCommands } from './companies.ts'
import { configCommand } from './config.ts'
import { keyCommands } from './keys.ts'
import { migrateCommand } from './migrate.ts'
import { numberingCommands } from './numbering.ts'
import { partnerCommands } from './partners.ts'
import { senderCommands } from './senders.ts'
import { apiCommand, engineCommand, serveCommand } from './serve.ts'
import { staffCommands } from './staff.ts'

/** Everything that `tidings` can be told to do, in the order of its help. */
export const commands: Command[] = [
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
