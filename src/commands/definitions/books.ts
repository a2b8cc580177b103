import type { Command } from '../command.ts'

const months = () => import('../books/months.ts')

export const bookCommands: Command[] = [
  {
    name: 'ledger verify',
    about: 'Recomputes all money from the messages; lists what differs and ends with 1 when anything does.',
    options: { company: { value: 'N', about: 'Only the books of one company' } },
    run: async call => (await import('../books/ledger.ts')).verify(call),
  },
  {
    name: 'month list',
    about: 'Lists the months of messages: how many there are, and whether they can be detached.',
    run: async call => (await months()).listAll(call),
  },
  {
    name: 'month detach',
    about: 'Closes a month into sums and takes its messages out of the service; their table stays, to be archived.',
    options: { month: { value: 'MONTH', about: 'Which one, e.g. 2026-05', required: true } },
    run: async call => (await months()).detachOne(call),
  },
]
