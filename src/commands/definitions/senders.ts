import type { Command } from '../command.ts'

const senders = () => import('../companies/senders.ts')

const sender = { value: 'ID', about: 'The sender name: `tidings sender list` shows them', required: true }
const comment = { value: 'TEXT', about: 'What the partner reads as managerComment' }

export const senderCommands: Command[] = [
  {
    name: 'sender list',
    about: 'Lists sender names, those waiting for review first.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await senders()).listSome(call),
  },
  {
    name: 'sender approve',
    about: 'Passes what is left of the review; the name is APPROVED once its first day has come.',
    options: { sender, comment },
    run: async call => (await senders()).approveOne(call),
  },
  {
    name: 'sender reject',
    about: 'Sends a name under review back to the partner, with a comment.',
    options: { sender, comment: { ...comment, default: 'Rejected' } },
    run: async call => (await senders()).rejectOne(call),
  },
  {
    name: 'sender deny',
    about: 'Forbids a name for good.',
    options: { sender, comment },
    run: async call => (await senders()).denyOne(call),
  },
  {
    name: 'sender set',
    about: 'Changes how fast messages go out under a name; running engines follow at once.',
    options: { sender, rate: { value: 'RATE', about: 'Most parts a second, or none' } },
    run: async call => (await senders()).setOne(call),
  },
]
