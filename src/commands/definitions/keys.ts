import { keyTypes } from '../../domain/keys/key.ts'
import type { Command } from '../command.ts'

const keys = () => import('../companies/keys.ts')

const key = { value: 'ID', about: 'The key: `tidings key list` shows them', required: true }
const addresses = {
  value: 'LIST',
  about: 'Addresses and networks it may be used from, separated by commas; any for no limit',
}

export const keyCommands: Command[] = [
  {
    name: 'key create',
    about: 'Makes an API key of a company and shows its value, this once.',
    options: {
      company: { value: 'N', about: 'The company: `tidings company list` shows them', required: true },
      type: { value: 'TYPE', about: keyTypes.join(', '), required: true },
      addresses,
      center: { value: 'NAME', about: 'Of a MESSAGE key, its traffic center, made if it is new; else the default' },
    },
    run: async call => (await keys()).createOne(call),
  },
  {
    name: 'key list',
    about: 'Lists the API keys; their values are known to nobody.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await keys()).listSome(call),
  },
  {
    name: 'key set',
    about: 'Changes from where an API key may be used; at once.',
    options: { key, addresses: { ...addresses, required: true } },
    run: async call => (await keys()).restrictOne(call),
  },
  {
    name: 'key deactivate',
    about: 'Stops an API key at once.',
    options: { key },
    run: async call => (await keys()).deactivateOne(call),
  },
  {
    name: 'key activate',
    about: 'Lets a deactivated API key be used again.',
    options: { key },
    run: async call => (await keys()).activateOne(call),
  },
  {
    name: 'key reissue',
    about: 'Gives an API key a new value and shows it, this once; the old one stops at once.',
    options: { key },
    run: async call => (await keys()).reissueOne(call),
  },
]
