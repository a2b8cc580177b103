import type { Command } from '../command.ts'

const months = () => import('../books/months.ts')
const statistics = () => import('../books/statistics.ts')

export const bookCommands: Command[] = [
  {
    name: 'ledger verify',
    about: 'Computes all money again from the messages, lists differences, and ends with 1 if there are any.',
    options: { company: { value: 'N', about: 'Only the ledger of one company' } },
    run: async call => (await import('../books/ledger.ts')).verify(call),
  },
  {
    name: 'statistics verify',
    about: 'Counts all messages by hour, lists differences from the statistics, and ends with 1 if there are any.',
    options: {
      company: { value: 'N', about: 'Only the traffic of one company' },
      from: { value: 'TIME', about: 'Only hours from this time on: a day in UTC, or a time with its zone' },
      to: { value: 'TIME', about: 'Only hours before this time' },
    },
    run: async call => (await statistics()).verify(call),
  },
  {
    name: 'statistics rebuild',
    about: 'Counts all messages by hour and corrects the statistics. The service may run meanwhile.',
    run: async call => (await statistics()).rebuild(call),
  },
  {
    name: 'month list',
    about: 'Lists the months with their number of messages, and whether they can be detached.',
    run: async call => (await months()).listAll(call),
  },
  {
    name: 'month detach',
    about:
      'Closes a month into sums and removes its messages from the service. Their table stays, so that you can archive it.',
    options: { month: { value: 'MONTH', about: 'The month, e.g. 2026-05', required: true } },
    run: async call => (await months()).detachOne(call),
  },
]
