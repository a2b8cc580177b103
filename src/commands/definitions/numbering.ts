import type { Command } from '../command.ts'

const numbering = () => import('../operators/numbering.ts')

export const numberingCommands: Command[] = [
  {
    name: 'numbering import',
    about: 'Loads the official register of number ranges; running services follow within seconds.',
    arguments: [{ name: 'FILE', about: 'A file of the register in its published CSV form' }],
    run: async call => (await numbering()).importRanges(call),
  },
  {
    name: 'ported import',
    about: 'Loads numbers that moved to another operator, as `number;brand` lines; they win over ranges.',
    arguments: [{ name: 'FILE', about: 'Lines such as 79160000001;TELE2' }],
    options: { replace: { about: 'The file is the whole list: numbers not in it are forgotten' } },
    run: async call => (await numbering()).importPortedNumbers(call),
  },
]
