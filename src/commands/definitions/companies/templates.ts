import type { Command } from '../../command.ts'

const templates = () => import('../../companies/templates.ts')

const template = { value: 'ID', about: 'The template: `tidings template list` shows them', required: true }
const comment = { value: 'TEXT', about: 'The managerComment for the company' }

export const templateCommands: Command[] = [
  {
    name: 'template list',
    about: 'Lists message templates; templates that wait for review come first.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await templates()).listSome(call),
  },
  {
    name: 'template approve',
    about: 'Ends the review; the template becomes APPROVED on its first day.',
    options: { template, comment },
    run: async call => (await templates()).approveOne(call),
  },
  {
    name: 'template reject',
    about: 'Returns a template under review to its company, with a comment.',
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
