import type { Command } from '../../command.ts'

const callbacks = () => import('../../companies/callbacks.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const callback = { value: 'ID', about: 'The callback: `tidings callback list` shows them', required: true }

export const callbackCommands: Command[] = [
  {
    name: 'callback list',
    about: 'Lists the newest callbacks of a company with their results.',
    options: { company },
    run: async call => (await callbacks()).listNewest(call),
  },
  {
    name: 'callback attempts',
    about: 'Lists the newest attempts of a callback: the time, the number of accepted events, and the answer.',
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
    options: { company, new: { about: 'Create a new secret first; the old one becomes invalid at once' } },
    run: async call => (await callbacks()).showSecret(call),
  },
]
