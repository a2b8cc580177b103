import { counteragentTypes } from '../../../domain/companies/company.ts'
import type { Command } from '../../command.ts'

const companies = () => import('../../companies/companies.ts')
const blacklist = () => import('../../companies/blacklist.ts')
const documents = () => import('../../companies/documents.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }

export const companyCommands: Command[] = [
  {
    name: 'company list',
    about: 'Lists the companies of all partners with balance, reserved amount, and the amount spent this month.',
    run: async call => (await companies()).listAll(call),
  },
  {
    name: 'company create',
    about: 'Creates a company of a partner.',
    options: {
      partner: { value: 'LOGIN', about: 'The partner: `tidings partner list` shows them', required: true },
      name: { value: 'NAME', about: 'The name of the company', required: true },
      inn: { value: 'INN', about: 'Its tax number, 10 or 12 digits', required: true },
      type: { value: 'TYPE', about: counteragentTypes.join(' or '), default: 'LEGAL' },
      kpp: { value: 'KPP', about: 'Its tax registration reason code' },
      address: { value: 'TEXT', about: 'Its legal address' },
      budget: {
        value: 'AMOUNT',
        about: 'The most that it may spend in a calendar month; without this option there is no limit',
      },
    },
    run: async call => (await companies()).createOne(call),
  },
  {
    name: 'company show',
    about: 'Shows a company with its account.',
    options: { company },
    run: async call => (await companies()).showOne(call),
  },
  {
    name: 'company disable',
    about: 'Disables a company: its dispatches wait, and its API keys are refused.',
    options: { company },
    run: async call => (await companies()).disableOne(call),
  },
  {
    name: 'company enable',
    about: 'Enables a disabled company: its dispatches continue, and its API keys work again.',
    options: { company },
    run: async call => (await companies()).enableOne(call),
  },
  {
    name: 'company topup',
    about: 'Adds a payment to the balance of a company.',
    options: {
      company,
      amount: { value: 'AMOUNT', about: "The amount in the company's currency: 1500.50", required: true },
      note: { value: 'TEXT', about: 'A note for the ledger' },
    },
    run: async call => (await companies()).topUpOne(call),
  },
  {
    name: 'company correct',
    about: 'Corrects the balance of a company, for instance after a wrong top-up. The top-up stays in the ledger.',
    options: {
      company,
      take: {
        value: 'AMOUNT',
        about: 'The amount to subtract from the balance; for a prepaid company at most the amount that is not reserved',
      },
      add: { value: 'AMOUNT', about: 'The amount to add to the balance' },
      reason: { value: 'TEXT', about: 'The reason, which the ledger shows beside the correction', required: true },
    },
    run: async call => (await companies()).correctOne(call),
  },
  {
    name: 'company set',
    about: 'Changes how a company pays, whether subscribers may write to it, and how fast it sends.',
    options: {
      company,
      billing: { value: 'MODE', about: 'prepaid: the balance stays above zero; postpaid: only the budget limits it' },
      inbound: { value: 'SWITCH', about: 'on or off: whether subscribers may write to it' },
      rate: { value: 'RATE', about: 'The most parts per second of all its dispatches, or none' },
    },
    run: async call => (await companies()).setOne(call),
  },
]

const NUMBER = { name: 'NUMBER', about: 'The phone number' }

export const blacklistCommands: Command[] = [
  {
    name: 'blacklist list',
    about: 'Lists the numbers that a company must not write to, the newest first.',
    options: { company, limit: { value: 'N', about: 'The number of shown entries', default: '100' } },
    run: async call => (await blacklist()).listSome(call),
  },
  {
    name: 'blacklist add',
    about: "Puts a number on a company's blacklist.",
    arguments: [NUMBER],
    options: { company, comment: { value: 'TEXT', about: 'The reason' } },
    run: async call => (await blacklist()).addOne(call),
  },
  {
    name: 'blacklist remove',
    about: "Takes a number off a company's blacklist.",
    arguments: [NUMBER],
    options: { company },
    run: async call => (await blacklist()).removeOne(call),
  },
]

export const documentCommands: Command[] = [
  {
    name: 'document list',
    about: 'Lists the documents that a company uploaded.',
    options: { company },
    run: async call => (await documents()).listSome(call),
  },
  {
    name: 'document save',
    about: 'Saves a document of a company as a new file.',
    arguments: [{ name: 'ID', about: 'The document: `tidings document list` shows them' }],
    options: {
      company,
      to: { value: 'FILE', about: 'The file; by default the name of the document, in the current folder' },
    },
    run: async call => (await documents()).saveOne(call),
  },
]
