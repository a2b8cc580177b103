import type { Command } from '../command.ts'

export const sendCommands: Command[] = [
  {
    name: 'send',
    about:
      'Sends a text to the numbers of a CSV file and follows it to the end; within a day, the same command again goes on where an interrupted one stopped.',
    arguments: [
      { name: 'FILE', about: 'CSV with a heading: a column `destination` (or the first one), others for {name}' },
    ],
    options: {
      company: { value: 'N', about: 'The company that sends: `tidings company list` shows them', required: true },
      name: { value: 'NAME', about: 'What the dispatch is called', required: true },
      text: { value: 'TEXT', about: 'The text, with {column} where a field of the file belongs', required: true },
      senders: { value: 'IDS', about: "Sender names, as ID,ID; without them the company's approved ones, one a brand" },
      channel: { value: 'CHANNEL', about: 'The channel', default: 'SMS' },
    },
    run: async call => (await import('../send/send.ts')).send(call),
  },
]
