import type { Command } from '../command.ts'

const companies = () => import('../companies/companies.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }

export const companyCommands: Command[] = [
  {
    name: 'company list',
    about: 'Lists the companies of all partners, with their balance, what is reserved and what they spent this month.',
    run: async call => (await companies()).listAll(call),
  },
  {
    name: 'company topup',
    about: 'Adds money that came in to the balance of a company.',
    options: {
      company,
      amount: { value: 'AMOUNT', about: "How much, in the company's currency: 1500.50", required: true },
      note: { value: 'TEXT', about: 'What stands beside it in the books' },
    },
    run: async call => (await companies()).topUpOne(call),
  },
  {
    name: 'company set',
    about: 'Changes how a company pays, whether subscribers may write to it, and how fast it sends.',
    options: {
      company,
      billing: { value: 'MODE', about: 'prepaid: not below zero; postpaid: limited by its budget alone' },
      inbound: { value: 'SWITCH', about: 'on or off: whether subscribers may write to it' },
      rate: { value: 'RATE', about: 'Most parts of all its dispatches a second, or none' },
    },
    run: async call => (await companies()).setOne(call),
  },
]
