import { inboundChannels } from '../../domain/inbound/rule.ts'
import type { Command } from '../command.ts'

const inbound = () => import('../companies/inbound.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }

export const inboundCommands: Command[] = [
  {
    name: 'inbound rule add',
    about: "Says where a company's inbound messages belong and which address is told of them; from now on.",
    options: {
      company,
      channel: { value: 'CHANNEL', about: inboundChannels.join(', '), required: true },
      sender: { value: 'NAME', about: 'Only what is written to this sender name; else to any', many: true },
      url: { value: 'URL', about: 'The address that gets the callbacks', required: true },
      center: { value: 'NAME', about: 'The traffic center, made if it is new; else the default one' },
    },
    run: async call => (await inbound()).addOne(call),
  },
  {
    name: 'inbound rule list',
    about: 'Lists the rules for inbound messages, the oldest first: of those that fit, a message takes the first.',
    options: { company: { value: 'N', about: 'Only those of one company' } },
    run: async call => (await inbound()).listSome(call),
  },
  {
    name: 'inbound rule remove',
    about: 'Removes a rule for inbound messages; what came in stays where it is.',
    options: {
      company,
      rule: { value: 'ID', about: 'The rule: `tidings inbound rule list` shows them', required: true },
    },
    run: async call => (await inbound()).removeOne(call),
  },
  {
    name: 'inbound center list',
    about: 'Lists the traffic centers of a company.',
    options: { company },
    run: async call => (await inbound()).listCompanyCenters(call),
  },
  {
    name: 'inbound center add',
    about: 'Adds a traffic center to a company; one that it has already stays as it is.',
    options: { company, name: { value: 'NAME', about: 'How it is called', required: true } },
    run: async call => (await inbound()).addCenter(call),
  },
  {
    name: 'inbound center default',
    about: 'Makes a traffic center the one for inbound messages that fit no rule; from now on.',
    options: {
      company,
      name: { value: 'NAME', about: 'The center: `tidings inbound center list` shows them', required: true },
    },
    run: async call => (await inbound()).makeCenterDefault(call),
  },
]
