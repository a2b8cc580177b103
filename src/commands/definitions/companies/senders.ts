import type { Command } from '../../command.ts'

const senders = () => import('../../companies/senders.ts')

const sender = { value: 'ID', about: 'The sender name: `tidings sender list` shows them', required: true }
const comment = { value: 'TEXT', about: 'The managerComment for the partner' }

export const senderCommands: Command[] = [
  {
    name: 'sender list',
    about: 'Lists sender names; names that wait for review come first.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await senders()).listSome(call),
  },
  {
    name: 'sender approve',
    about: 'Ends the review; the name becomes APPROVED on its first day.',
    options: { sender, comment },
    run: async call => (await senders()).approveOne(call),
  },
  {
    name: 'sender reject',
    about: 'Returns a name under review to the partner, with a comment.',
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
    about: 'Changes the rate of a name; running engines use it at once.',
    options: { sender, rate: { value: 'RATE', about: 'The most parts per second, or none' } },
    run: async call => (await senders()).setOne(call),
  },
]
