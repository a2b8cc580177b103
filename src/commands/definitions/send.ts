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
      name: { value: 'NAME', about: 'The name of the dispatch', required: true },
      text: { value: 'TEXT', about: 'The text, with {column} for a field of the file', required: true },
      column: {
        value: 'NAME',
        about: 'The column with the numbers, if its name is not phone, tel, msisdn, телефон, ...',
      },
      senders: {
        value: 'IDS',
        about: "Sender names, as ID,ID; by default the company's approved names, one for each brand",
      },
      channel: { value: 'CHANNEL', about: 'The channel', default: 'SMS' },
      unique: { about: 'Leave out rows that repeat a number' },
      rejected: {
        value: 'FILE',
        about: 'The file for rejected rows; by default FILE.rejected.csv beside the file',
      },
      'dry-run': { about: 'Show the messages and their price, and send nothing' },
      yes: { about: 'Send without asking' },
    },
    run: async call => (await import('../send/send.ts')).send(call),
  },
]
