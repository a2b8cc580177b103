import type { Command } from '../command.ts'

const simulator = () => import('../operators/simulator.ts')

export const simulationCommands: Command[] = [
  {
    name: 'simulator outbox',
    about: 'Lists what was handed to the simulated operators, in that order: the last 100,000 messages.',
    run: async call => (await simulator()).listOutbox(call),
  },
  {
    name: 'simulator inbound',
    about: 'Plays a subscriber who writes; a running engine takes it up within a second.',
    options: {
      channel: { value: 'CHANNEL', about: 'Through which channel, e.g. SMS', required: true },
      from: { value: 'NUMBER', about: "The subscriber's number", required: true },
      to: { value: 'NAME', about: 'The sender name that is written to', required: true },
      text: { value: 'TEXT', about: 'What is written', required: true },
    },
    run: async call => (await simulator()).writeInbound(call),
  },
  {
    name: 'smsc',
    about: 'Runs an SMSC to test against, until it is interrupted; it takes everything and delivers nothing.',
    options: {
      port: { value: 'N', about: 'The port to listen on; 0 for any that is free', default: '2775' },
      host: { value: 'ADDRESS', about: 'The address to listen on', default: '127.0.0.1' },
      account: { value: 'ACCOUNT', about: 'Who may bind, as ID:PASSWORD; without it, everybody', many: true },
      rate: { value: 'N', about: 'Parts a second an account may submit; more are throttled' },
      'receipt-ms': { value: 'N', about: 'A receipt comes anywhere up to so long after the answer', default: '0' },
      'fail-rate': { value: 'X', about: 'Share of messages not delivered, from 0 to 1', default: '0' },
      'throttle-rate': { value: 'X', about: 'Share of submissions answered with "too fast"', default: '0' },
      'disconnect-rate': { value: 'X', about: 'Share of submissions at which the connection is cut', default: '0' },
      'duplicate-rate': { value: 'X', about: 'Share of receipts that come twice', default: '0' },
      'early-rate': { value: 'X', about: 'Share of receipts that come before the answer', default: '0' },
      'missing-rate': { value: 'X', about: 'Share of receipts that never come', default: '0' },
    },
    run: async call => (await import('../operators/smsc.ts')).runSmsc(call),
  },
]
