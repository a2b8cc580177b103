import { callbackCommands } from './callbacks.ts'
import type { Command } from './command.ts'
import { companyCommands } from './companies.ts'
import { configCommand } from './config.ts'
import { gatewayCommands } from './gateways.ts'
import { inboundCommands } from './inbound.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { migrateCommand } from './migrate.ts'
import { monthCommands } from './months.ts'
import { numberingCommands } from './numbering.ts'
import { partnerCommands } from './partners.ts'
import { sendCommand } from './send.ts'
import { senderCommands } from './senders.ts'
import { apiCommand, engineCommand, serveCommand } from './serve.ts'
import { simulatorCommands } from './simulator.ts'
import { smscCommand } from './smsc.ts'
import { staffCommands } from './staff.ts'
import { tariffCommands } from './tariffs.ts'
import { templateCommands } from './templates.ts'

/** Everything that `tidings` can be told to do, in the order of its help. */
export const commands: Command[] = [
  serveCommand,
  apiCommand,
  engineCommand,
  migrateCommand,
  configCommand,
  sendCommand,
  ...partnerCommands,
  ...staffCommands,
  ...companyCommands,
  ...keyCommands,
  ...senderCommands,
  ...templateCommands,
  ...tariffCommands,
  ...ledgerCommands,
  ...monthCommands,
  ...gatewayCommands,
  ...callbackCommands,
  ...inboundCommands,
  ...simulatorCommands,
  smscCommand,
  ...numberingCommands,
]
