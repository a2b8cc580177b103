import type { Command } from '../command.ts'

const verifiers = () => import('../verification/verifiers.ts')
const reports = () => import('../verification/reports.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const gateway = { value: 'ID', about: 'The verifier: `tidings verifier list` shows them', required: true }

/** What verifiers and widgets have in common. */
export const codeOptions: Command['options'] = {
  name: { value: 'NAME', about: 'A name to know it by' },
  channels: { value: 'LIST', about: 'Channels in their order, separated by commas, e.g. SMS,VOICECODE' },
  senders: { value: 'LIST', about: 'Sender names, e.g. SMS=ROMASHKA,VIBER=Romashka' },
  fallback: { value: 'SECONDS', about: 'Goes on to the next channel after so long without delivery; off for never' },
  length: { value: 'N', about: 'Digits of a code, 4 to 8' },
  lifetime: { value: 'SECONDS', about: 'How long a code is good, 30 to 3600' },
  tries: { value: 'N', about: 'Wrong codes that are allowed, 1 to 10' },
  pause: { value: 'SECONDS', about: 'The least time between two codes for one number, 10 to 3600' },
  text: { value: 'LANG=TEXT', about: 'A text with {code}, such as "en=Your code: {code}"', many: true },
  countries: { value: 'LIST', about: 'Countries that are served, such as RU,KZ; any for all' },
  'web-otp': { value: 'HOST', about: 'Ends an SMS with @HOST #code, so that browsers fill it in; off for not' },
  'android-hash': { value: 'HASH', about: 'Adds the hash by which an Android app fills the code in; off for not' },
  'callback-url': { value: 'URL', about: 'Where what becomes of the messages is reported; off for nowhere' },
  'per-number': { value: 'N', about: 'Codes for one number within a day' },
  'per-address': { value: 'N', about: "Codes for one end user's address within an hour" },
  'per-prefix': { value: 'N', about: 'Codes for numbers that differ in their last four digits, within an hour' },
  'per-verifier': { value: 'N', about: 'Codes of the verifier within an hour' },
  'per-company': { value: 'N', about: 'Codes of the company within an hour' },
  'least-confirmed': { value: 'SHARE', about: 'A prefix with fewer confirmed codes is blocked, 0 to 1' },
}

export const verifierCommands: Command[] = [
  {
    name: 'verifier create',
    about: 'Makes a verifier, which sends codes to phone numbers, and prints its gatewayId.',
    options: { company, ...codeOptions },
    run: async call => (await verifiers()).createOne(call),
  },
  {
    name: 'verifier list',
    about: 'Lists the verifiers.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await verifiers()).listSome(call),
  },
  {
    name: 'verifier show',
    about: 'Shows how a verifier sends its codes.',
    options: { gateway },
    run: async call => (await verifiers()).showOne(call),
  },
  {
    name: 'verifier set',
    about: 'Changes a verifier; what is not given stays. Acts on the next code.',
    options: { gateway, ...codeOptions },
    run: async call => (await verifiers()).changeOne(call),
  },
  {
    name: 'verifier delete',
    about: 'Deletes a verifier. Codes under way can still be checked.',
    options: { gateway },
    run: async call => (await verifiers()).deleteOne(call),
  },
  {
    name: 'verifier stats',
    about: 'Shows what was sent, delivered and confirmed, by day, channel and country.',
    options: {
      company,
      gateway: { value: 'ID', about: 'Only one verifier or widget' },
      from: { value: 'DAY', about: 'The first day, such as 2026-05-01; a week ago unless given' },
      to: { value: 'DAY', about: 'The last day; today unless given' },
    },
    run: async call => (await reports()).showStatistics(call),
  },
  {
    name: 'verifier blocked',
    about: 'Lists numbers, prefixes, addresses and verifiers that get no codes now, and why.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await reports()).listBlocked(call),
  },
  {
    name: 'verifier unblock',
    about: 'Lets codes be sent again, and counts from zero.',
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
