import { verifierChannels } from '../../../domain/verifiers/verifier.ts'
import type { Command } from '../../command.ts'

const verifiers = () => import('../../verification/verifiers.ts')
const reports = () => import('../../verification/reports.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const gateway = { value: 'ID', about: 'The verifier: `tidings verifier list` shows them', required: true }

/** The options of both verifiers and widgets. */
export const codeOptions: Command['options'] = {
  name: { value: 'NAME', about: 'A name for your own lists' },
  channels: {
    value: 'LIST',
    about: `Channels in the order of the fallback, such as SMS,VOICECODE. All: ${verifierChannels.join(', ')}`,
  },
  senders: { value: 'LIST', about: 'Sender names, such as SMS=ROMASHKA,VIBER=Romashka; SMS=off removes one' },
  fallback: {
    value: 'SECONDS',
    about: 'Sends the code through the next channel after a failure, or after this time without delivery; off: never',
  },
  length: { value: 'N', about: 'Digits of a code, 4 to 8; 6 at first' },
  lifetime: { value: 'SECONDS', about: 'How long a code is valid, 30 to 3600; 300 at first' },
  tries: { value: 'N', about: 'Wrong codes that are allowed, 1 to 10; 3 at first' },
  pause: {
    value: 'SECONDS',
    about:
      'The least time between two codes for one number, 10 to 3600; 60 at first. It doubles until one is confirmed',
  },
  text: {
    value: 'LANG=TEXT',
    about: 'A text with {code}, such as "en=Your code: {code}"; en=off removes one',
    many: true,
  },
  countries: { value: 'LIST', about: 'Countries whose numbers get codes, such as RU,KZ; any: all' },
  'web-otp': { value: 'HOST', about: 'Ends an SMS with @HOST #code, so that browsers fill it in; off: without' },
  'android-hash': {
    value: 'HASH',
    about: 'Adds the hash by which an Android application reads the code (SMS Retriever); off: without',
  },
  'callback-url': { value: 'URL', about: 'Gets callbacks about the messages; off: none' },
  'per-number': { value: 'N', about: 'Most codes for one number in a day; 10 at first' },
  'per-address': { value: 'N', about: "Most codes for one end user's address (clientIp) in an hour; 30 at first" },
  'per-prefix': {
    value: 'N',
    about: 'Most codes in an hour for numbers that differ only in their last four digits; 300 at first',
  },
  'per-verifier': { value: 'N', about: 'Most codes of this verifier in an hour; 20000 at first' },
  'per-company': { value: 'N', about: 'Most codes of the company in an hour; 50000 at first' },
  'least-confirmed': {
    value: 'SHARE',
    about: 'Blocks a prefix when a smaller share of its codes is confirmed, 0 to 1; 0.1 at first, 0: never blocks',
  },
}

export const verifierCommands: Command[] = [
  {
    name: 'verifier create',
    about:
      'Makes a verifier, which sends codes to phone numbers, and prints its gatewayId. Without --channels it may use every channel that it has a sender name for.',
    options: { company, ...codeOptions },
    run: async call => (await verifiers()).createOne(call),
  },
  {
    name: 'verifier list',
    about: 'Lists the verifiers.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await verifiers()).listSome(call),
  },
  {
    name: 'verifier show',
    about: 'Shows the settings of a verifier.',
    options: { gateway },
    run: async call => (await verifiers()).showOne(call),
  },
  {
    name: 'verifier set',
    about: 'Changes a verifier, beginning with its next code. Settings that are not given stay.',
    options: { gateway, ...codeOptions },
    run: async call => (await verifiers()).changeOne(call),
  },
  {
    name: 'verifier delete',
    about: 'Deletes a verifier. Codes that were sent can still be checked, and its statistics stay.',
    options: { gateway },
    run: async call => (await verifiers()).deleteOne(call),
  },
  {
    name: 'verifier stats',
    about:
      'Shows how many codes were sent, delivered and confirmed, how fast and at which cost, by day (UTC), verifier, channel and country.',
    options: {
      company,
      gateway: { value: 'ID', about: 'Only one verifier, or one widget by its widgetId' },
      from: { value: 'DAY', about: 'The first day, such as 2026-05-01; six days ago unless given' },
      to: { value: 'DAY', about: 'The last day; today unless given' },
    },
    run: async call => (await reports()).showStatistics(call),
  },
  {
    name: 'verifier blocked',
    about: 'Lists numbers, prefixes, addresses and verifiers that are blocked now, until when, and why.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await reports()).listBlocked(call),
  },
  {
    name: 'verifier unblock',
    about: 'Ends a block, or the pause of a number: its codes are counted from zero.',
    options: {
      company,
      subject: {
        value: 'SUBJECT',
        about: 'As `tidings verifier blocked` shows it, e.g. prefix:7916000',
        required: true,
      },
    },
    run: async call => (await reports()).unblockOne(call),
  },
]
