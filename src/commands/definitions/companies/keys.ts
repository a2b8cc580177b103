import { keyTypes } from '../../../domain/keys/key.ts'
import type { Command } from '../../command.ts'

const keys = () => import('../../companies/keys.ts')

const key = { value: 'ID', about: 'The key: `tidings key list` shows them', required: true }
const addresses = {
  value: 'LIST',
  about: 'The addresses and networks from which it may be used, separated by commas; any for no limit',
}

export const keyCommands: Command[] = [
  {
    name: 'key create',
    about: 'Creates an API key of a company and shows its value, only once.',
    options: {
      company: { value: 'N', about: 'The company: `tidings company list` shows them', required: true },
      type: { value: 'TYPE', about: keyTypes.join(', '), required: true },
      addresses,
      center: {
        value: 'NAME',
        about: 'The traffic center of a MESSAGE key, created if it is new; by default the default center',
      },
    },
    run: async call => (await keys()).createOne(call),
  },
  {
    name: 'key list',
    about: 'Lists the API keys without their values, which are not stored.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await keys()).listSome(call),
  },
  {
    name: 'key set',
    about: 'Changes the addresses from which an API key may be used. It takes effect at once.',
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
    about: 'Activates a deactivated API key.',
    options: { key },
    run: async call => (await keys()).activateOne(call),
  },
  {
    name: 'key reissue',
    about: 'Gives an API key a new value and shows it, only once. The old value becomes invalid at once.',
    options: { key },
    run: async call => (await keys()).reissueOne(call),
  },
]
