import type { Command } from '../command.ts'

const simulator = () => import('../operators/simulator.ts')

export const simulationCommands: Command[] = [
  {
    name: 'simulator outbox',
    about: 'Lists the last 100,000 messages that the simulated operators received, in their order.',
    run: async call => (await simulator()).listOutbox(call),
  },
  {
    name: 'simulator inbound',
    about: 'Simulates a message from a subscriber; a running engine receives it within a second.',
    options: {
      channel: { value: 'CHANNEL', about: 'The channel, e.g. SMS', required: true },
      from: { value: 'NUMBER', about: "The subscriber's number", required: true },
      to: { value: 'NAME', about: 'The sender name that gets the message', required: true },
      text: { value: 'TEXT', about: 'The text of the message', required: true },
    },
    run: async call => (await simulator()).writeInbound(call),
  },
  {
    name: 'simulator widget',
    about:
      "Simulates the browser of a visitor: confirms a number in a widget, and prints the key for the site's server, or the result of the code. It calls the service at its own address or TIDINGS_PUBLIC_URL; if no service answers, it does the work itself. The data folder keeps the browser's secret for a day, in simulated-browsers, readable only by its owner. Captchas of providers need a real browser.",
    options: {
      widget: { value: 'ID', about: 'The widget that the page shows: begins a session' },
      destination: { value: 'NUMBER', about: 'The number to confirm, with --widget' },
      origin: { value: 'URL', about: 'The site of the page; by default the first origin of the widget' },
      channel: {
        value: 'CHANNEL',
        about: 'The channel of the code; by default the first channel of the widget, or the last used one',
      },
      lang: { value: 'LANG', about: 'The language of the page, such as en' },
      key: { value: 'KEY', about: 'Continues the session with this key; alone, shows the state of the session' },
      code: { value: 'CODE', about: 'Enters the code, with --key' },
      again: { about: 'Requests another code, with --key' },
      url: { value: 'URL', about: 'The address of the service, if it is another one' },
    },
    run: async call => (await import('../operators/simulator-widget.ts')).playWidget(call),
  },
  {
    name: 'smsc',
    about: 'Runs an SMSC for tests until it is interrupted; it accepts all messages and delivers none.',
    options: {
      port: { value: 'N', about: 'The port to listen on; 0 for any free port', default: '2775' },
      host: { value: 'ADDRESS', about: 'The address to listen on', default: '127.0.0.1' },
      account: {
        value: 'ACCOUNT',
        about: 'An account that may bind, as ID:PASSWORD; by default any account',
        many: true,
      },
      rate: { value: 'N', about: 'The most parts per second of an account; more are throttled' },
      'receipt-ms': { value: 'N', about: 'The longest random delay of a receipt after the answer', default: '0' },
      'fail-rate': { value: 'X', about: 'Share of messages not delivered, from 0 to 1', default: '0' },
      'throttle-rate': { value: 'X', about: 'Share of submissions answered with "too fast"', default: '0' },
      'disconnect-rate': {
        value: 'X',
        about: 'Share of submissions after which the connection is closed',
        default: '0',
      },
      'duplicate-rate': { value: 'X', about: 'Share of receipts that are sent twice', default: '0' },
      'early-rate': { value: 'X', about: 'Share of receipts that are sent before the answer', default: '0' },
      'missing-rate': { value: 'X', about: 'Share of receipts that are never sent', default: '0' },
    },
    run: async call => (await import('../operators/smsc.ts')).runSmsc(call),
  },
]
