import type { Command } from '../command.ts'

export const sendCommands: Command[] = [
  {
    name: 'send',
    about:
      'Sends a text to the numbers of a CSV file: shows what it comes to, asks, sends, and follows it to the end. Within a day, the same command again goes on where an interrupted one stopped.',
    arguments: [
      {
        name: 'FILE',
        about: 'CSV with a heading (UTF-8, UTF-16 or Windows-1251): a column of phone numbers, others for {column}',
      },
    ],
    options: {
      company: { value: 'N', about: 'The company that sends: `tidings company list` shows them', required: true },
      name: { value: 'NAME', about: 'What the dispatch is called', required: true },
      text: { value: 'TEXT', about: 'The text, with {column} where a field of the file belongs', required: true },
      column: {
        value: 'NAME',
        about: 'The column with the numbers, where it is not called phone, tel, msisdn, телефон, ...',
      },
      senders: { value: 'IDS', about: "Sender names, as ID,ID; without them the company's approved ones, one a brand" },
      channel: { value: 'CHANNEL', about: 'The channel', default: 'SMS' },
      unique: { about: 'Leave out rows that repeat a number' },
      rejected: {
        value: 'FILE',
        about: 'Where rejected rows are written; without it FILE.rejected.csv beside the file',
      },
      'dry-run': { about: 'Show what would be sent and what it would cost, and send nothing' },
      yes: { about: 'Send without asking' },
    },
    run: async call => (await import('../send/send.ts')).send(call),
  },
]
