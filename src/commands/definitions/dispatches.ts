import { dispatchStatuses } from '../../domain/dispatches/dispatch.ts'
import { statusWords } from '../../domain/message-search/found-message.ts'
import type { Command } from '../command.ts'

const dispatches = () => import('../dispatches/dispatches.ts')
const messages = () => import('../dispatches/messages.ts')

const ID = { name: 'ID', about: 'The dispatch: `tidings dispatch list` shows them' }
const limit = { value: 'N', about: 'The number of shown entries, the newest first', default: '100' }

export const dispatchCommands: Command[] = [
  {
    name: 'dispatch list',
    about: 'Lists the dispatches of a company, with their progress.',
    options: {
      company: { value: 'N', about: 'The company: `tidings company list` shows them', required: true },
      status: { value: 'STATUS', about: `Only dispatches with this status: ${dispatchStatuses.join(', ')}` },
      limit,
    },
    run: async call => (await dispatches()).listSome(call),
  },
  {
    name: 'dispatch show',
    about: 'Shows a dispatch: its progress, the reasons of failed messages, and the reason why it waits.',
    arguments: [ID],
    run: async call => (await dispatches()).showOne(call),
  },
  {
    name: 'dispatch start',
    about: 'Starts a dispatch that was created or stopped.',
    arguments: [ID],
    run: async call => (await dispatches()).startOne(call),
  },
  {
    name: 'dispatch stop',
    about: 'Stops a dispatch within a second; `dispatch start` continues it.',
    arguments: [ID],
    run: async call => (await dispatches()).stopOne(call),
  },
  {
    name: 'dispatch report',
    about: 'Prints every message of a dispatch with its result, as CSV.',
    arguments: [ID],
    options: { to: { value: 'FILE', about: 'A new file for the report; by default standard output' } },
    run: async call => (await dispatches()).reportOne(call),
  },
]

export const messageCommands: Command[] = [
  {
    name: 'message find',
    about: 'Finds single messages and messages of dispatches by their properties.',
    options: {
      to: { value: 'NUMBER', about: 'Their phone number' },
      id: { value: 'ID', about: "Their id, ours or the client's own" },
      company: { value: 'N', about: 'The company; without it all of them are searched, by --to or --id' },
      dispatch: { value: 'ID', about: 'Their dispatch' },
      sender: { value: 'NAME', about: 'Their sender name' },
      channel: { value: 'CHANNEL', about: 'Their channel' },
      status: { value: 'STATUS', about: `One of ${statusWords.join(', ')}` },
      from: { value: 'TIME', about: 'Sent from this time on: a day in UTC, or a time such as 2026-05-17T09:00:00Z' },
      until: { value: 'TIME', about: 'Sent before this time' },
      limit,
    },
    run: async call => (await messages()).findSome(call),
  },
  {
    name: 'message show',
    about: 'Shows all data of a message.',
    arguments: [{ name: 'ID', about: "The id of the message, ours or the client's own" }],
    options: { company: { value: 'N', about: 'The company; without it all of them are searched' } },
    run: async call => (await messages()).showOne(call),
  },
]
