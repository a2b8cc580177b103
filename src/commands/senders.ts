import { UsageError } from '../base/errors.ts'
import { senderFeeTable } from '../domain/pricing/pricing.ts'
import { approveSender, denySender, rejectSender } from '../domain/senders/moderation.ts'
import type { Sender } from '../domain/senders/sender.ts'
import { listAllSenders } from '../domain/senders/senders.ts'
import { type Call, type Command, withDatabase } from './command.ts'
import { idOption } from './command-line.ts'
import { table } from './table.ts'

const sender = { value: 'ID', about: 'The sender name: `tidings sender list` shows them', required: true }
const comment = { value: 'TEXT', about: 'What the partner reads as managerComment' }

export const senderCommands: Command[] = [
  {
    name: 'sender list',
    about: 'Lists sender names, those waiting for review first.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const senders = await listAllSenders(sql, call.options.company ? idOption(call, 'company') : undefined)
        call.print(senders.map(present), tableOf(senders))
      }),
  },
  {
    name: 'sender approve',
    about: 'Passes what is left of the review; the name is APPROVED once its first day has come.',
    options: { sender },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        const fees = await senderFeeTable(sql)
        printDecided(call, await approveSender(sql, idOption(call, 'sender'), fees, new Date()))
      }),
  },
  {
    name: 'sender reject',
    about: 'Sends a name under review back to the partner, with a comment.',
    options: { sender, comment: { ...comment, required: true } },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        if (!call.options.comment) throw new UsageError('--comment must say why the name is rejected.')
        printDecided(call, await rejectSender(sql, idOption(call, 'sender'), call.options.comment, new Date()))
      }),
  },
  {
    name: 'sender deny',
    about: 'Forbids a name for good.',
    options: { sender, comment },
    run: call =>
      withDatabase(call.config, async ({ sql }) => {
        printDecided(call, await denySender(sql, idOption(call, 'sender'), call.options.comment, new Date()))
      }),
  },
]

const printDecided = (call: Call, decided: Sender) =>
  call.print(present(decided), `Sender ${decided.senderId} (${decided.senderName}) is ${decided.status}.`)

const present = (s: Sender) => ({
  id: s.senderId,
  companyId: s.companyId,
  senderName: s.senderName,
  channelType: s.channelType,
  brand: s.brand,
  status: s.status,
  suspended: s.suspended,
  managerComment: s.managerComment,
})

const tableOf = (senders: Sender[]) =>
  table(
    ['ID', 'COMPANY', 'CHANNEL', 'BRAND', 'TYPE', 'STATUS', 'NAME'],
    senders.map(s => [s.senderId, s.companyId, s.channelType, s.brand, s.commonType, s.status, s.senderName]),
  )
