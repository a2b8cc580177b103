import type { Command } from '../command.ts'

const templates = () => import('../companies/templates.ts')

const template = { value: 'ID', about: 'The template: `tidings template list` shows them', required: true }
const comment = { value: 'TEXT', about: 'What the company reads as managerComment' }

export const templateCommands: Command[] = [
  {
    name: 'template list',
    about: 'Lists message templates, those waiting for review first.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await templates()).listSome(call),
  },
  {
    name: 'template approve',
    about: 'Passes what is left of the review; the template is APPROVED once its first day has come.',
    options: { template, comment },
    run: async call => (await templates()).approveOne(call),
  },
  {
    name: 'template reject',
    about: 'Sends a template under review back to its company, with a comment.',
    options: { template, comment: { ...comment, default: 'Rejected' } },
    run: async call => (await templates()).rejectOne(call),
  },
  {
    name: 'template deny',
    about: 'Forbids a template for good.',
    options: { template, comment },
    run: async call => (await templates()).denyOne(call),
  },
]
