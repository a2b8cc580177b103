import type { Command } from '../command.ts'

const callbacks = () => import('../companies/callbacks.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const callback = { value: 'ID', about: 'The callback: `tidings callback list` shows them', required: true }

export const callbackCommands: Command[] = [
  {
    name: 'callback list',
    about: 'Lists the newest callbacks of a company and what became of them.',
    options: { company },
    run: async call => (await callbacks()).listNewest(call),
  },
  {
    name: 'callback attempts',
    about: 'Lists the newest attempts at a callback: when, how many events were taken, and what was answered.',
    options: { company, callback },
    run: async call => (await callbacks()).listAttempts(call),
  },
  {
    name: 'callback replay',
    about: 'Sends a callback again, for another day.',
    options: { company, callback },
    run: async call => (await callbacks()).replayOne(call),
  },
  {
    name: 'callback secret',
    about: "Shows the secret that a company's callbacks are signed with (Standard Webhooks).",
    options: { company, new: { about: 'Make a new one first: the old one ends at once' } },
    run: async call => (await callbacks()).showSecret(call),
  },
]
