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
    name: 'simulator widget',
    about:
      "Plays the browser of a visitor who confirms a number in a widget, and prints the key for the site's server, or what became of the code. It asks the service at its own address or TIDINGS_PUBLIC_URL, and works by itself where none answers. The browser's secret is kept for a day in the data folder, in simulated-browsers, readable by its owner alone. Captchas of providers need a real browser.",
    options: {
      widget: { value: 'ID', about: 'The widget that the page shows: begins a session' },
      destination: { value: 'NUMBER', about: 'The number to confirm, with --widget' },
      origin: { value: 'URL', about: 'The site of the page; the first of the origins of the widget unless given' },
      channel: { value: 'CHANNEL', about: 'The channel of the code; the first of the widget, or the last one used' },
      lang: { value: 'LANG', about: 'The language of the page, such as en' },
      key: { value: 'KEY', about: 'Continues the session with this key; alone, shows where the session stands' },
      code: { value: 'CODE', about: 'Types the code, with --key' },
      again: { about: 'Asks for one more code, with --key' },
      url: { value: 'URL', about: 'The address of the service, if it is another one' },
    },
    run: async call => (await import('../operators/simulator-widget.ts')).playWidget(call),
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
