import type { Command } from './command.ts'
import { bookCommands } from './definitions/books.ts'
import { callbackCommands } from './definitions/callbacks.ts'
import { blacklistCommands, companyCommands, documentCommands } from './definitions/companies.ts'
import { dispatchCommands, messageCommands } from './definitions/dispatches.ts'
import { gatewayCommands } from './definitions/gateways.ts'
import { inboundCommands } from './definitions/inbound.ts'
import { keyCommands } from './definitions/keys.ts'
import { numberingCommands } from './definitions/numbering.ts'
import { partnerCommands, staffCommands } from './definitions/people.ts'
import { sendCommands } from './definitions/send.ts'
import { senderCommands } from './definitions/senders.ts'
import { serviceCommands } from './definitions/service.ts'
import { simulationCommands } from './definitions/simulation.ts'
import { tariffCommands } from './definitions/tariffs.ts'
import { templateCommands } from './definitions/templates.ts'

/**
 * Every command of `tidings`, in the order of its help. A file of `definitions/` holds names, summaries and options, and
 * imports the code of a command when the command runs: `tidings --help` loads no database driver and no HTTP server.
 */
export const commands: Command[] = [
  ...serviceCommands,
  ...sendCommands,
  ...dispatchCommands,
  ...messageCommands,
  ...partnerCommands,
  ...staffCommands,
  ...companyCommands,
  ...documentCommands,
  ...blacklistCommands,
  ...keyCommands,
  ...senderCommands,
  ...templateCommands,
  ...tariffCommands,
  ...bookCommands,
  ...gatewayCommands,
  ...callbackCommands,
  ...inboundCommands,
  ...simulationCommands,
  ...numberingCommands,
]
