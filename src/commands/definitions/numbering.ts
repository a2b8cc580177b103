import type { Command } from '../command.ts'

const numbering = () => import('../operators/numbering.ts')

const NEW_FILE = { name: 'FILE', about: 'The file to write; it must not exist' }

export const numberingCommands: Command[] = [
  {
    name: 'numbering import',
    about: 'Loads the official register of number ranges; running services use it within seconds.',
    arguments: [{ name: 'FILE', about: 'A file of the register in its published CSV form' }],
    options: { replace: { about: 'The file is the whole register: other area codes return to the built-in plan' } },
    run: async call => (await numbering()).importRanges(call),
  },
  {
    name: 'numbering export',
    about: 'Writes the number ranges in use into a file for `numbering import --replace`.',
    arguments: [NEW_FILE],
    run: async call => (await numbering()).exportRanges(call),
  },
  {
    name: 'ported import',
    about: 'Loads numbers that moved to another operator, as `number;brand` lines; they override ranges.',
    arguments: [{ name: 'FILE', about: 'Lines such as 79160000001;TELE2' }],
    options: { replace: { about: 'The file is the whole list: other ported numbers are deleted' } },
    run: async call => (await numbering()).importPortedNumbers(call),
  },
  {
    name: 'ported export',
    about: 'Writes the ported numbers into a file for `ported import --replace`.',
    arguments: [NEW_FILE],
    run: async call => (await numbering()).exportPortedNumbers(call),
  },
]
