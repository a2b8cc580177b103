import type { Command } from '../command.ts'

const months = () => import('../books/months.ts')
const statistics = () => import('../books/statistics.ts')

export const bookCommands: Command[] = [
  {
    name: 'ledger verify',
    about: 'Recomputes all money from the messages; lists what differs and ends with 1 when anything does.',
    options: { company: { value: 'N', about: 'Only the books of one company' } },
    run: async call => (await import('../books/ledger.ts')).verify(call),
  },
  {
    name: 'statistics verify',
    about: 'Counts all messages by hour and compares; lists what differs and ends with 1 when anything does.',
    options: {
      company: { value: 'N', about: 'Only the traffic of one company' },
      from: { value: 'TIME', about: 'Only hours from then on: a day in UTC, or a time with its zone' },
      to: { value: 'TIME', about: 'Only hours before' },
    },
    run: async call => (await statistics()).verify(call),
  },
  {
    name: 'statistics rebuild',
    about: 'Counts all messages by hour and mends the statistics, beside the working service.',
    run: async call => (await statistics()).rebuild(call),
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
