import type { Command } from './command.ts'
import { auditCommands } from './definitions/audit.ts'
import { bookCommands } from './definitions/books.ts'
import { callbackCommands } from './definitions/companies/callbacks.ts'
import { blacklistCommands, companyCommands, documentCommands } from './definitions/companies/companies.ts'
import { inboundCommands } from './definitions/companies/inbound.ts'
import { keyCommands } from './definitions/companies/keys.ts'
import { senderCommands } from './definitions/companies/senders.ts'
import { templateCommands } from './definitions/companies/templates.ts'
import { dispatchCommands, messageCommands } from './definitions/dispatches.ts'
import { gatewayCommands } from './definitions/gateways.ts'
import { numberingCommands } from './definitions/numbering.ts'
import { partnerCommands, personCommands, staffCommands } from './definitions/people.ts'
import { sendCommands } from './definitions/send.ts'
import { serviceCommands } from './definitions/service.ts'
import { simulationCommands } from './definitions/simulation.ts'
import { tariffCommands } from './definitions/tariffs.ts'
import { verifierCommands } from './definitions/verification/verifiers.ts'
import { widgetCommands } from './definitions/verification/widgets.ts'

/**
 * Every command of `tidings`, in the order of its help. A file of `definitions/` holds names, summaries and options, and
 * imports the code of a command when the command runs: `tidings --help` loads no database driver and no HTTP server.
 */
export const commands: Command[] = [
  ...under('The service', serviceCommands),
  ...under('Sending', [...sendCommands, ...dispatchCommands, ...messageCommands]),
  ...under('Partners, staff and people of the cabinet', [...partnerCommands, ...staffCommands, ...personCommands]),
  ...under('Audit log and personal data', auditCommands),
  ...under('Companies', [...companyCommands, ...documentCommands, ...blacklistCommands, ...keyCommands]),
  ...under('Sender names and templates', [...senderCommands, ...templateCommands]),
  ...under('Phone verification', [...verifierCommands, ...widgetCommands]),
  ...under('Money', [...tariffCommands, ...bookCommands]),
  ...under('Operators', [...gatewayCommands, ...simulationCommands, ...numberingCommands]),
  ...under('Callbacks and inbound messages', [...callbackCommands, ...inboundCommands]),
]

function under(group: string, members: Command[]): Command[] {
  return members.map(command => ({ ...command, group }))
}
