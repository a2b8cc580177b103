import type { Command } from '../command.ts'

const numbering = () => import('../operators/numbering.ts')

const NEW_FILE = { name: 'FILE', about: 'The file to write; it must not be there yet' }

export const numberingCommands: Command[] = [
  {
    name: 'numbering import',
    about: 'Loads the official register of number ranges; running services follow within seconds.',
    arguments: [{ name: 'FILE', about: 'A file of the register in its published CSV form' }],
    options: { replace: { about: 'The file is the whole register: other codes go back to the built-in plan' } },
    run: async call => (await numbering()).importRanges(call),
  },
  {
    name: 'numbering export',
    about: 'Writes the number ranges in use into a file that `numbering import --replace` takes back.',
    arguments: [NEW_FILE],
    run: async call => (await numbering()).exportRanges(call),
  },
  {
    name: 'ported import',
    about: 'Loads numbers that moved to another operator, as `number;brand` lines; they win over ranges.',
    arguments: [{ name: 'FILE', about: 'Lines such as 79160000001;TELE2' }],
    options: { replace: { about: 'The file is the whole list: numbers not in it are forgotten' } },
    run: async call => (await numbering()).importPortedNumbers(call),
  },
  {
    name: 'ported export',
    about: 'Writes the ported numbers into a file that `ported import --replace` takes back.',
    arguments: [NEW_FILE],
    run: async call => (await numbering()).exportPortedNumbers(call),
  },
]
